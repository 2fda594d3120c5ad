//! Any bytes as what masters and workers say to each other: nothing panics, and what is understood is written and read
//! again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message as _;
use windlass_protocol::{from_worker, to_worker, v1};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(v1::ToWorker { says }) = v1::ToWorker::decode(bytes) {
        for said in says {
            let Some(v1::master_says::What::Frame(frame)) = said.what else { continue };
            let Ok(frame) = to_worker::decode(frame) else { continue };
            let written = to_worker::encode(&frame).encode_to_vec();
            let again = v1::Frame::decode(&written[..]).expect("what was written is read");
            assert_eq!(to_worker::decode(again).expect("and understood"), frame);
        }
    }
    if let Ok(v1::FromWorker { says }) = v1::FromWorker::decode(bytes) {
        for said in says {
            let Some(what) = said.what else { continue };
            let Ok(Some(message)) = from_worker::decode(what) else { continue };
            let written = from_worker::encode(&message).encode_to_vec();
            let again = v1::WorkerSays::decode(&written[..]).expect("what was written is read");
            let again = from_worker::decode(again.what.expect("it says something")).expect("and understood");
            // A number that is none is not even equal to itself.
            assert_eq!(format!("{again:?}"), format!("{:?}", Some(message)));
        }
    }
});
