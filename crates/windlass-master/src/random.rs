//! Random numbers from the system.

/// What nobody can guess.
pub fn secret() -> String {
    format!("{:016x}{:016x}", number(), number())
}

/// A number that nobody else has, for ids and keys.
pub fn number() -> u64 {
    let mut bytes = [0; 8];
    // Short reads happen only above 256 bytes, and the source has been there since the kernel started.
    while !matches!(rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()), Ok(8)) {}
    u64::from_ne_bytes(bytes)
}
