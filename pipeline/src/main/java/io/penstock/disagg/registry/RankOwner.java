package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/// Identity to which a rank belongs while it is registered: a user that the registry knows, or else a secret. Only a
/// digest is kept.
public final class RankOwner {
  /// Least and most bytes of a secret.
  public static final int LEAST_SECRET = 16;
  public static final int MOST_SECRET = 64;
  /// Bytes of a digest.
  public static final int DIGEST = 32;

  private final boolean user;
  private final byte[] digest;

  private RankOwner(boolean user, byte[] digest) {
    this.user = user;
    this.digest = digest;
  }

  /// A user whose credentials were compared.
  public static RankOwner ofUser(String name) {
    return new RankOwner(true, digest(name.getBytes(StandardCharsets.UTF_8)));
  }

  /// The holder of a secret.
  ///
  /// @throws IllegalArgumentException if its length is not one of a secret
  public static RankOwner ofSecret(byte[] secret) {
    if (requireNonNull(secret, "secret").length < LEAST_SECRET || secret.length > MOST_SECRET) {
      throw new IllegalArgumentException(
          "secret must be %d to %d bytes (was %d)".formatted(LEAST_SECRET, MOST_SECRET, secret.length));
    }
    return new RankOwner(false, digest(secret));
  }

  /// An owner that another registry told.
  ///
  /// @param user whether it is a user
  /// @param digest as [#digest()] gave it
  public static RankOwner told(boolean user, byte[] digest) {
    if (requireNonNull(digest, "digest").length != DIGEST) {
      throw new IllegalArgumentException("digest must be %d bytes (was %d)".formatted(DIGEST, digest.length));
    }
    return new RankOwner(user, digest.clone());
  }

  private static byte[] digest(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK must have SHA-256", e);
    }
  }

  /// Whether it is a user.
  public boolean isUser() {
    return user;
  }

  /// SHA-256 of the name or the secret, for other registries.
  public byte[] digest() {
    return digest.clone();
  }

  /// Takes equal time for all digests.
  @Override
  public boolean equals(Object other) {
    return other instanceof RankOwner owner && user == owner.user && MessageDigest.isEqual(digest, owner.digest);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(digest);
  }

  @Override
  public String toString() {
    return user ? "a user" : "the holder of a secret";
  }
}
