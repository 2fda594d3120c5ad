//! The only unsafe code of Windlass: a process is started in a session of its own, and signals arrive through a
//! descriptor.
//!
//! `posix_spawn` rather than `fork`: the child shares the parent's memory until it is another program, so the
//! cost does not grow with the parent, and no Rust code runs between the two. It returns when the child is the
//! new program in its new session, or has failed: there is no moment in which a signal for the group of the child
//! could reach the parent's.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

/// A program and everything it starts with.
pub struct Start<'a> {
    /// The program's file.
    pub program: &'a CStr,
    /// Its arguments, the first of which is its name.
    pub arguments: &'a [&'a CStr],
    /// All of its variables.
    pub variables: &'a [&'a CStr],
    /// The folder it starts in.
    pub folder: &'a CStr,
    /// Standard input, output and error.
    pub streams: [BorrowedFd<'a>; 3],
}

/// Starts a program as the leader of a new session, with default signal handling. All other descriptors must be
/// close-on-exec.
pub fn start(what: &Start<'_>) -> io::Result<Pid> {
    let arguments = pointers(what.arguments);
    let variables = pointers(what.variables);
    let attributes = Attributes::new()?;
    let mut actions = Actions::new()?;
    for (number, stream) in (0..).zip(&what.streams) {
        // A stream that has the wanted number already would be closed with the launcher's descriptors.
        assert!(stream.as_raw_fd() > 2, "descriptor {} is a standard stream", stream.as_raw_fd());
        // SAFETY: the actions are initialised, and the descriptor is open for as long as `what` lives.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&mut actions.0, stream.as_raw_fd(), number) })?;
    }
    // SAFETY: the actions are initialised; the path is copied, and ends with a NUL.
    check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&mut actions.0, what.folder.as_ptr()) })?;
    let mut pid: libc::pid_t = 0;
    // SAFETY: both lists end with a null pointer and point to strings that outlive the call; the attributes and
    // actions are initialised; the child runs no code of ours.
    check(unsafe {
        libc::posix_spawn(
            &mut pid,
            what.program.as_ptr(),
            &actions.0,
            &attributes.0,
            arguments.as_ptr(),
            variables.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}

/// Blocks every signal in this thread, and gives a descriptor that is readable when a child has ended.
pub fn block_signals() -> io::Result<OwnedFd> {
    let (mut all, mut children) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `sigfillset` and `sigemptyset` initialise the sets that the other calls read. `signalfd` gives a new
    // descriptor that nobody else owns.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigemptyset(children.as_mut_ptr());
        libc::sigaddset(children.as_mut_ptr(), libc::SIGCHLD);
        check(libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut()))?;
        match libc::signalfd(-1, children.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

fn pointers(strings: &[&CStr]) -> Vec<*mut c_char> {
    strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// These functions return the error's number.
fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Attributes> {
        let mut attributes = MaybeUninit::uninit();
        let (mut none, mut all) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let flags = libc::POSIX_SPAWN_SETSID as c_int
            | libc::POSIX_SPAWN_SETSIGMASK as c_int
            | libc::POSIX_SPAWN_SETSIGDEF as c_int;
        // SAFETY: `posix_spawnattr_init` initialises the attributes before they are used or moved; the sets are
        // initialised before they are copied into them.
        unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let mut attributes = Attributes(attributes.assume_init());
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(&mut attributes.0, none.as_ptr()))?;
            check(libc::posix_spawnattr_setsigdefault(&mut attributes.0, all.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&mut attributes.0, flags as libc::c_short))?;
            Ok(attributes)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and is not used again.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Actions> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: `posix_spawn_file_actions_init` initialises the actions before they are used or moved.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Actions(actions.assume_init()))
        }
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}
