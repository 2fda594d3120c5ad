//! Compiles the .proto file without a protobuf compiler on the machine.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["etcd.proto"], ["proto"])?;
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
