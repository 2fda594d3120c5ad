//! The bytes of a journal's record.

use std::sync::Arc;

use windlass_core::attempt::StopReason;
use windlass_core::rows::Values;
use windlass_core::shard::input::{Process, Report};
use windlass_core::time::Wall;
use windlass_core::worker::input::{Entry, Record};
use windlass_model::{AttemptId, Fence, Incarnation, JobId, JobNumber, RunId};
use windlass_workflow::expr::Value;

const ASSIGNED: u8 = 1;
const STARTED: u8 = 2;
const FINISHED: u8 = 3;
const SETTLED: u8 = 4;

const HELD: u8 = 1;
const RUNS: u8 = 2;
const GIVEN_BACK: u8 = 3;
const EXITED: u8 = 4;
const STOPPED: u8 = 5;
const TIMED_OUT: u8 = 6;
const GANG: u8 = 7;
const LOST: u8 = 8;

/// Appends a record.
pub fn encode(record: &Record, out: &mut Vec<u8>) {
    let AttemptId { job, fence } = record.attempt;
    out.extend_from_slice(&record.incarnation.0.to_le_bytes());
    out.extend_from_slice(&job.run.to_u64().to_le_bytes());
    out.extend_from_slice(&job.number.0.to_le_bytes());
    out.extend_from_slice(&fence.0.to_le_bytes());
    match &record.entry {
        Entry::Assigned => out.push(ASSIGNED),
        Entry::Started => out.push(STARTED),
        Entry::Settled => out.push(SETTLED),
        Entry::Finished(report) => {
            out.push(FINISHED);
            encode_report(report, out);
        }
    }
}

fn encode_report(report: &Report, out: &mut Vec<u8>) {
    match report {
        Report::Held => out.push(HELD),
        Report::Started => out.push(RUNS),
        Report::GivenBack => out.push(GIVEN_BACK),
        Report::Killed(StopReason::Stop, process) => killed(STOPPED, process.as_deref(), out),
        Report::Killed(StopReason::Timeout, process) => killed(TIMED_OUT, process.as_deref(), out),
        Report::Killed(StopReason::Gang, process) => killed(GANG, process.as_deref(), out),
        Report::Lost => out.push(LOST),
        Report::Exited { success, reason, outputs, process: of } => {
            out.extend_from_slice(&[EXITED, u8::from(*success)]);
            text(reason, out);
            text(&outputs.as_deref().map(json).unwrap_or_default(), out);
            process(of.as_deref(), out);
        }
    }
}

fn killed(why: u8, of: Option<&Process>, out: &mut Vec<u8>) {
    out.push(why);
    process(of, out);
}

/// What is known of a process, without what it printed: that is in its log.
fn process(process: Option<&Process>, out: &mut Vec<u8>) {
    let Some(Process { started_at, exit_code, signal, tail: _ }) = process else { return out.push(0) };
    let marks = [started_at.is_some(), exit_code.is_some(), signal.is_some()];
    out.push(marks.iter().enumerate().fold(1, |bits, (place, mark)| bits | u8::from(*mark) << (place + 1)));
    if let Some(at) = started_at {
        out.extend_from_slice(&at.0.to_le_bytes());
    }
    for number in [exit_code, signal].into_iter().flatten() {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Outputs are texts and JSON values, so nothing is lost. What could not be written as JSON is left out: an output
/// never costs a result.
fn json(values: &Values) -> String {
    let field = |(key, value): (&Arc<str>, &Value)| Some((key.to_string(), value.to_json().ok()?));
    serde_json::Value::Object(values.iter().filter_map(field).collect()).to_string()
}

/// Reads what `encode` wrote.
pub fn decode(bytes: &[u8]) -> Option<Record> {
    let mut reader = Reader(bytes);
    let incarnation = Incarnation(reader.u64()?);
    let run = RunId::from_u64(reader.u64()?)?;
    let job = JobId { run, number: JobNumber(reader.u32()?) };
    let attempt = AttemptId { job, fence: Fence(reader.u32()?) };
    let entry = match reader.u8()? {
        ASSIGNED => Entry::Assigned,
        STARTED => Entry::Started,
        SETTLED => Entry::Settled,
        FINISHED => Entry::Finished(decode_report(&mut reader)?),
        _ => return None,
    };
    reader.0.is_empty().then_some(Record { incarnation, attempt, entry })
}

fn decode_report(reader: &mut Reader<'_>) -> Option<Report> {
    Some(match reader.u8()? {
        HELD => Report::Held,
        RUNS => Report::Started,
        GIVEN_BACK => Report::GivenBack,
        STOPPED => Report::Killed(StopReason::Stop, decode_process(reader)?),
        TIMED_OUT => Report::Killed(StopReason::Timeout, decode_process(reader)?),
        GANG => Report::Killed(StopReason::Gang, decode_process(reader)?),
        LOST => Report::Lost,
        EXITED => {
            let (success, reason) = (reader.u8()? != 0, reader.text()?.into());
            let outputs = match reader.text()? {
                "" => None,
                json => {
                    let json: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).ok()?;
                    let values =
                        json.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value)));
                    Some(Arc::new(values.collect()))
                }
            };
            Report::Exited { success, reason, outputs, process: decode_process(reader)? }
        }
        _ => return None,
    })
}

/// The outer `None` is for what makes no sense.
fn decode_process(reader: &mut Reader<'_>) -> Option<Option<Arc<Process>>> {
    let bits = reader.u8()?;
    if bits == 0 {
        return Some(None);
    }
    let started_at = if bits & 2 != 0 { Some(Wall(reader.u64()?.cast_signed())) } else { None };
    let mut number = |bit: u8| -> Option<Option<i32>> {
        if bits & bit == 0 { Some(None) } else { reader.u32().map(|number| Some(number.cast_signed())) }
    };
    let (exit_code, signal) = (number(4)?, number(8)?);
    Some(Some(Arc::new(Process { started_at, exit_code, signal, tail: None })))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.u32()? as usize;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(taken).ok()
    }
}

/// One of each kind.
#[cfg(test)]
pub fn samples() -> Vec<Record> {
    let run = RunId::from_u64(77 << 22).expect("it is small");
    let attempt = AttemptId { job: JobId { run, number: JobNumber(3) }, fence: Fence(9) };
    let outputs =
        [("rows", Value::Text("12".into())), ("all", Value::List([Value::Int(-1), Value::Null].into()))];
    let outputs = outputs.into_iter().map(|(key, value)| (key.into(), value)).collect();
    let known = Process { started_at: Some(Wall(-1)), signal: Some(15), ..Process::default() };
    let exited = Process { started_at: Some(Wall(7)), exit_code: Some(3), ..Process::default() };
    let reports = [
        Report::Held,
        Report::Started,
        Report::GivenBack,
        Report::Killed(StopReason::Stop, None),
        Report::Killed(StopReason::Timeout, Some(Arc::new(known))),
        Report::Killed(StopReason::Gang, None),
        Report::Lost,
        Report::Exited { success: true, reason: "".into(), outputs: Some(Arc::new(outputs)), process: None },
        Report::Exited {
            success: false,
            reason: "exit code 3 ☠".into(),
            outputs: None,
            process: Some(Arc::new(exited)),
        },
    ];
    [Entry::Assigned, Entry::Started, Entry::Settled]
        .into_iter()
        .chain(reports.map(Entry::Finished))
        .map(|entry| Record { incarnation: Incarnation(5 << 32), attempt, entry })
        .collect()
}
