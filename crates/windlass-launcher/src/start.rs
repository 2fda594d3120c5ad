//! The only unsafe code of Windlass: a process is started in a session of its own, and signals arrive through a
//! descriptor.
//!
//! The child shares the parent's memory until it is another program, and the parent stands still until then: so the
//! cost does not grow with the parent, and there is no moment in which a signal for the group of the child could
//! reach the parent's. `posix_spawn` does the same, but has the child ask about every signal there is: some 130
//! system calls for each process.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

/// The child's stack until it is another program. It makes a dozen system calls, one after the other; a page would do,
/// but for the linker, which may look a function up on it.
const STACK: usize = 64 << 10;

/// How the system writes down that a signal is handled by default, with room to spare: zeros.
const DEFAULT: [u64; 8] = [0; 8];

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

/// Starts programs, one at a time.
pub struct Starter {
    stack: Vec<MaybeUninit<u128>>,
}

impl Starter {
    /// Ready to start programs. Whoever makes one has called [`block_signals`]: how this process handles signals is how
    /// its children do.
    pub fn new() -> Starter {
        Starter { stack: vec![MaybeUninit::uninit(); STACK / size_of::<u128>()] }
    }

    /// Starts a program as the leader of a new session, with default signal handling. All other descriptors must be
    /// close-on-exec.
    pub fn start(&mut self, what: &Start<'_>) -> io::Result<Pid> {
        for stream in &what.streams {
            // One that has a standard number already might be overwritten before it has its place.
            assert!(stream.as_raw_fd() > 2, "descriptor {} is a standard stream", stream.as_raw_fd());
        }
        let (arguments, variables) = (pointers(what.arguments), pointers(what.variables));
        let mut signals = MaybeUninit::uninit();
        // SAFETY: it initialises the set that it is given.
        unsafe { libc::sigemptyset(signals.as_mut_ptr()) };
        let mut child = Child {
            program: what.program.as_ptr(),
            arguments: arguments.as_ptr(),
            variables: variables.as_ptr(),
            folder: what.folder.as_ptr(),
            streams: what.streams.map(|stream| stream.as_raw_fd()),
            // SAFETY: it was initialised above.
            signals: unsafe { signals.assume_init() },
            error: 0,
        };
        let child: *mut Child = &mut child;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: this process has one thread, which stands still until the child is another program or has ended; so
        // nobody else uses the stack or `child` meanwhile, and everything that `child` points to is alive. The stack
        // grows down from its end, which is aligned. Every signal is blocked, so that no handler runs on it.
        let pid = unsafe {
            libc::clone(become_program, self.stack.as_mut_ptr_range().end.cast(), flags, child.cast())
        };
        if pid == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the child has ended or has memory of its own, and `child` is alive.
        match unsafe { ptr::read_volatile(&raw const (*child).error) } {
            0 => Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH)),
            error => {
                let _ = rustix::process::waitpid(Pid::from_raw(pid), rustix::process::WaitOptions::empty());
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }
}

/// What the child needs to know, and the number of the error that kept it from becoming the program.
struct Child {
    program: *const c_char,
    arguments: *const *const c_char,
    variables: *const *const c_char,
    folder: *const c_char,
    streams: [c_int; 3],
    signals: libc::sigset_t,
    error: c_int,
}

/// Runs in the child, in the parent's memory: it must leave no trace there but an error, and allocate nothing.
extern "C" fn become_program(child: *mut c_void) -> c_int {
    let child = child.cast::<Child>();
    // SAFETY: the parent keeps everything that `child` points to alive, and stands still. The calls are safe in a child
    // that shares its parent's memory: none of them changes that, but for the number of the last error.
    unsafe {
        if libc::setsid() != -1
            && (0..).zip((*child).streams).all(|(number, stream)| libc::dup2(stream, number) != -1)
            && libc::chdir((*child).folder) != -1
            && libc::sigprocmask(libc::SIG_SETMASK, &raw const (*child).signals, ptr::null_mut()) != -1
        {
            libc::execve((*child).program, (*child).arguments, (*child).variables);
        }
        (*child).error = *libc::__errno_location();
        libc::_exit(127)
    }
}

/// Blocks every signal in this thread, takes back how any of them is handled, and gives a descriptor that is readable
/// when a child has ended.
///
/// What this process ignores, a program that it starts would ignore too.
pub fn block_signals() -> io::Result<OwnedFd> {
    let (mut all, mut children) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `sigfillset` and `sigemptyset` initialise the sets that the other calls read. `rt_sigaction` reads less
    // than `DEFAULT`, and installs no handler. `signalfd` gives a new descriptor that nobody else owns.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigemptyset(children.as_mut_ptr());
        libc::sigaddset(children.as_mut_ptr(), libc::SIGCHLD);
        check(libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), ptr::null_mut()))?;
        for signal in 1..=libc::SIGRTMAX() {
            // By the system's own call: the library's keeps its hands off two signals, which it has itself left ignored
            // in this process. Some cannot be handled in any other way, and say so.
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                DEFAULT.as_ptr(),
                ptr::null::<u64>(),
                size_of::<u64>(),
            );
        }
        match libc::signalfd(-1, children.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

fn pointers(strings: &[&CStr]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// These functions return the error's number.
fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
