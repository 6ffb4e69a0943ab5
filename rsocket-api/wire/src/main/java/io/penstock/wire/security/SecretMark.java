package io.penstock.wire.security;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// Stands for a secret and the name that it was shown with: equal for equal ones under one key, and worthless without
/// the key.
final class SecretMark {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  private final byte[] bytes;

  private SecretMark(byte[] bytes) {
    this.bytes = bytes;
  }

  /// A random key that never leaves memory. Safe from any thread.
  static final class Key {
    private final SecretKeySpec key;

    Key(SecureRandom random) {
      byte[] bytes = new byte[KEY_BYTES];
      random.nextBytes(bytes);
      key = new SecretKeySpec(bytes, ALGORITHM);
    }

    /// @param user empty for a secret without a name
    SecretMark of(String user, char[] secret) {
      try {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(key);
        mac.update(user.getBytes(StandardCharsets.UTF_8));
        mac.update((byte) 0);
        return new SecretMark(mac.doFinal(SecretHash.digest(secret)));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("the JDK must have " + ALGORITHM, e);
      }
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SecretMark mark && MessageDigest.isEqual(bytes, mark.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }
}
