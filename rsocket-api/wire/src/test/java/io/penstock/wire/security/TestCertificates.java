package io.penstock.wire.security;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/// Certificates of an authority that exists for one test, in files.
public final class TestCertificates {
  private final Path folder;
  private final X509Bundle authority = authority("authority");
  private final X509Bundle stranger = authority("stranger");
  private int files;

  public TestCertificates(Path folder) {
    this.folder = folder;
  }

  private static CertificateBuilder builder(String name) {
    return new CertificateBuilder().ecp256().subject("CN=" + name).notBefore(Instant.now().minus(Duration.ofDays(2)));
  }

  private static X509Bundle authority(String name) {
    try {
      return builder(name).setIsCertificateAuthority(true).notAfter(later()).buildSelfSigned();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static Instant later() {
    return Instant.now().plus(Duration.ofDays(2));
  }

  /// Of a node at loopback.
  public TlsFiles node() {
    return files(issued("node", "127.0.0.1", later(), authority));
  }

  /// Of a node elsewhere.
  public TlsFiles elsewhere() {
    return files(issued("node", "192.0.2.1", later(), authority));
  }

  /// Of a node at loopback, until yesterday.
  public TlsFiles expired() {
    return files(issued("node", "127.0.0.1", Instant.now().minus(Duration.ofDays(1)), authority));
  }

  /// Of a node at loopback, from the other authority.
  public TlsFiles strange() {
    return files(issued("node", "127.0.0.1", later(), stranger));
  }

  /// What a client needs to trust the authority.
  public TlsFiles trust() {
    return TlsFiles.none().withTrust(written(authority.getRootCertificatePEM()));
  }

  /// What a client needs to trust the other authority.
  public TlsFiles strangersTrust() {
    return TlsFiles.none().withTrust(written(stranger.getRootCertificatePEM()));
  }

  private static X509Bundle issued(String name, String address, Instant until, X509Bundle by) {
    try {
      return builder(name).addSanIpAddress(address).notAfter(until).buildIssuedBy(by);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private TlsFiles files(X509Bundle bundle) {
    return TlsFiles.none().withCert(written(bundle.getCertificatePathPEM()), written(bundle.getPrivateKeyPEM()));
  }

  private Path written(String text) {
    try {
      return Files.writeString(folder.resolve("file" + files++ + ".pem"), text);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
