package io.penstock.cluster.infinispan;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/// Keys that a cluster's secret gives: PBKDF2 makes a guess of a short secret dear, HKDF parts the result into keys of
/// one use each. Immutable.
final class ClusterKeys {
  private static final int GUESS_COST = 100_000;
  private static final int MASTER_BITS = 256;
  private static final int KEY_BYTES = 32;

  private final SecretKey master;
  private final boolean isSecret;

  private ClusterKeys(SecretKey master, boolean isSecret) {
    this.master = master;
    this.isSecret = isSecret;
  }

  /// Keys of the cluster of this name. Takes some 50 ms if there is a secret.
  ///
  /// @param secret null for none: then the keys are no secret
  static ClusterKeys of(String cluster, byte @Nullable [] secret) throws GeneralSecurityException {
    byte[] salt = ("penstock cluster " + cluster).getBytes(StandardCharsets.UTF_8);
    if (secret == null) {
      return new ClusterKeys(kdf().deriveKey("Master", HKDFParameterSpec.ofExtract().addIKM(salt).extractOnly()),
          false);
    }
    char[] password = new String(secret, StandardCharsets.ISO_8859_1).toCharArray();
    PBEKeySpec spec = new PBEKeySpec(password, salt, GUESS_COST, MASTER_BITS);
    Arrays.fill(password, '\0');
    try {
      return new ClusterKeys(SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec), true);
    } finally {
      spec.clearPassword();
    }
  }

  /// Whether a secret stands behind these keys, so that messages are sealed.
  boolean isSecret() {
    return isSecret;
  }

  /// Bytes for the names of blocks.
  byte[] forNames(int bytes) throws GeneralSecurityException {
    return kdf().deriveData(HKDFParameterSpec.expandOnly(master, info("names"), bytes));
  }

  /// The key that seals the messages of a sender.
  SecretKey forSender(byte[] sender) throws GeneralSecurityException {
    byte[] use = Arrays.copyOf(info("seal"), sender.length + "seal".length());
    System.arraycopy(sender, 0, use, "seal".length(), sender.length);
    return kdf().deriveKey("AES", HKDFParameterSpec.expandOnly(master, use, KEY_BYTES));
  }

  private static byte[] info(String use) {
    return use.getBytes(StandardCharsets.US_ASCII);
  }

  private static KDF kdf() throws GeneralSecurityException {
    return KDF.getInstance("HKDF-SHA256");
  }
}
