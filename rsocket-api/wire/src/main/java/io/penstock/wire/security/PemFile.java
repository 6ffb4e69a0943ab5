package io.penstock.wire.security;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Certificates and keys in PEM. No message quotes a file: it may be a key.
final class PemFile {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
  private static final byte[] SAMPLE = "penstock".getBytes(StandardCharsets.US_ASCII);

  private PemFile() {}

  /// The certificates in `file`, in their order; at least one.
  static X509Certificate[] certificates(Path file) throws IOException {
    try {
      X509Certificate[] read = CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))).stream()
          .map(X509Certificate.class::cast).toArray(X509Certificate[]::new);
      if (read.length == 0) {
        throw refused(file, "certificates in PEM", "has none");
      }
      return read;
    } catch (CertificateException e) {
      throw refused(file, "certificates in PEM", "is not");
    }
  }

  /// The private key in `file`, which is of the first of `certificates`.
  static PrivateKey key(Path file, X509Certificate[] certificates) throws IOException {
    Matcher pem = KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    if (!pem.find()) {
      throw refused(file, "a private key in PEM (PKCS#8, not encrypted)", "is not");
    }
    PrivateKey key = key(file, pem.group(1));
    if (!fits(key, certificates[0].getPublicKey())) {
      throw refused(file, "the key of the certificate beside it", "is another");
    }
    return key;
  }

  private static PrivateKey key(Path file, String base64) {
    byte[] encoded;
    try {
      encoded = Base64.getMimeDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw refused(file, "a private key in PEM (PKCS#8, not encrypted)", "is not");
    }
    try {
      for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
        try {
          return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (InvalidKeySpecException e) {
          continue; // of another algorithm
        }
      }
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK must have RSA, EC and EdDSA keys", e);
    } finally {
      Arrays.fill(encoded, (byte) 0);
    }
    throw refused(file, "a key of RSA, EC or EdDSA", "is not");
  }

  private static boolean fits(PrivateKey key, PublicKey certified) {
    try {
      Signature signature = Signature.getInstance(switch (key.getAlgorithm()) {
        case "RSA" -> "SHA256withRSA";
        case "EC" -> "SHA256withECDSA";
        default -> "EdDSA";
      });
      signature.initSign(key);
      signature.update(SAMPLE);
      byte[] signed = signature.sign();
      signature.initVerify(certified);
      signature.update(SAMPLE);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false; // of another algorithm
    }
  }

  private static IllegalArgumentException refused(Path file, String rule, String was) {
    return new IllegalArgumentException(file + " must have " + rule + " (" + was + ")");
  }
}
