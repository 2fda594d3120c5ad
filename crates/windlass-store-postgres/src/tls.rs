//! Encryption on the way to the server.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::Protection;

/// Why the protection that was asked for cannot be given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("cannot read certificates from `{}`", .file.display())]
    Roots {
        file: std::path::PathBuf,
        #[source]
        cause: rustls::pki_types::pem::Error,
    },
    #[error("`{}` has no certificate that can be trusted", .0.display())]
    NoRoot(std::path::PathBuf),
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
}

/// Makes the TLS of connections.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    pub(crate) fn new(protection: &Protection) -> Result<Tls, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions()?;
        let config = match protection {
            Protection::VerifyFull(None) => builder.with_platform_verifier()?.with_no_client_auth(),
            Protection::VerifyFull(Some(file)) => {
                let failed = |cause| TlsError::Roots { file: file.clone(), cause };
                let mut roots = RootCertStore::empty();
                for root in CertificateDer::pem_file_iter(file).map_err(failed)? {
                    roots.add(root.map_err(failed)?)?;
                }
                if roots.is_empty() {
                    return Err(TlsError::NoRoot(file.clone()));
                }
                builder.with_root_certificates(roots).with_no_client_auth()
            }
            // As PostgreSQL's own programs mean it: nobody listens, but nobody has shown who they are.
            Protection::Disable | Protection::Prefer | Protection::Require => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyServer { provider }))
                .with_no_client_auth(),
        };
        Ok(Tls { config: Arc::new(config) })
    }
}

/// Takes every certificate, but lets nobody use one that is not theirs.
#[derive(Debug)]
struct AnyServer {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = ToHost;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<ToHost, Self::Error> {
        // A socket in the file system has no name; what it leads to is not encrypted anyway.
        let name = ServerName::try_from(if host.is_empty() { "localhost" } else { host })?.to_owned();
        Ok(ToHost { connector: TlsConnector::from(Arc::clone(&self.config)), name })
    }
}

/// The TLS of one connection.
pub(crate) struct ToHost {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for ToHost {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(
            async move { self.connector.connect(self.name, stream).await.map(|stream| Encrypted { stream }) },
        )
    }
}

/// An encrypted stream.
pub(crate) struct Encrypted<S> {
    stream: TlsStream<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
