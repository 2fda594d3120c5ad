//! Any text as a duration, an amount, an id: what is accepted reads back as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_model::quantity::Quantity;
use windlass_model::{Duration, JobId, Name, RunId, TaskId};

fuzz_target!(|text: &str| {
    if let Ok(duration) = text.parse::<Duration>() {
        assert_eq!(duration.to_string().parse(), Ok(duration));
    }
    if let Ok(amount) = text.parse::<Quantity>() {
        assert_eq!(amount.to_string().parse(), Ok(amount));
    }
    if let Ok(id) = text.parse::<RunId>() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    if let Ok(id) = text.parse::<JobId>() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    let _ = (Name::new(text), TaskId::new(text));
});
