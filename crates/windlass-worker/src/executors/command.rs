//! What a payload means as a process.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use windlass_core::shard::input::Assignment;
use windlass_core::shard::payload::{Payload, PythonText};
use windlass_launcher::protocol::Command;

/// The name of the file in an attempt's folder that it puts outputs into.
pub const OUTPUT: &str = "output";

/// The longest text that is given to an interpreter as an argument; the kernel takes 128 KiB. What is longer goes
/// into a file.
const ARGUMENT_MAX: usize = 120 << 10;

/// The command of an attempt that works in `folder`; `None` for what needs no process.
pub fn command(assignment: &Assignment, folder: &Path, python: &str) -> io::Result<Option<Command>> {
    let (argv, env) = match &assignment.payload {
        Payload::Script { shell, text, env } => (interpreted(shell, text, folder, &[])?, env),
        Payload::Command { argv, env } => (argv.clone(), env),
        Payload::Python { code, args, interpreter, env } => {
            let interpreter = interpreter.as_deref().unwrap_or(python);
            let argv = match code {
                PythonText::Inline(code) => interpreted(interpreter, code, folder, args)?,
                PythonText::File(path) => {
                    let before = [interpreter.to_owned(), path.clone()];
                    before.into_iter().chain(args.iter().cloned()).collect()
                }
            };
            (argv, env)
        }
        Payload::Noop
        | Payload::Sleep(_)
        | Payload::Http(_)
        | Payload::FileExists(_)
        | Payload::HttpProbe(_) => return Ok(None),
    };
    let variable = |name: &str, value: &[u8]| [name.as_bytes(), b"=", value].concat();
    let job = assignment.attempt.job;
    let mut env: Vec<_> = env.iter().map(|(name, value)| variable(name, value.as_bytes())).collect();
    // Ours come last, and so win.
    env.extend(assignment.env.iter().map(|(name, value)| variable(name, value.as_bytes())));
    if let Some(index) = assignment.index {
        env.push(variable("WINDLASS_INDEX", index.to_string().as_bytes()));
    }
    env.extend([
        variable("WINDLASS_RUN", job.run.to_string().as_bytes()),
        variable("WINDLASS_TASK", assignment.task.as_str().as_bytes()),
        variable("WINDLASS_JOB", job.number.to_string().as_bytes()),
        variable("WINDLASS_ATTEMPT", assignment.number.to_string().as_bytes()),
        variable("WINDLASS_OUTPUT", folder.join(OUTPUT).as_os_str().as_bytes()),
    ]);
    let argv = argv.into_iter().map(String::into_bytes).collect();
    Ok(Some(Command { argv, env, folder: folder.as_os_str().as_bytes().to_vec() }))
}

fn interpreted(interpreter: &str, text: &str, folder: &Path, args: &[String]) -> io::Result<Vec<String>> {
    let mut argv = vec![interpreter.to_owned()];
    if text.len() <= ARGUMENT_MAX {
        argv.extend(["-c".to_owned(), text.to_owned()]);
    } else {
        fs::write(folder.join("script"), text)?;
        argv.push("./script".to_owned());
    }
    argv.extend(args.iter().cloned());
    Ok(argv)
}
