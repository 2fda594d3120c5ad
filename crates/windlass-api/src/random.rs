//! Random bytes from the system.

/// Bytes that nobody can guess.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Short reads happen only above 256 bytes, and the source has been there since the kernel started.
    while !matches!(rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()), Ok(read) if read == N)
    {
    }
    bytes
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
