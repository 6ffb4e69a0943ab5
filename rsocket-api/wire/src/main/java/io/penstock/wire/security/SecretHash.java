package io.penstock.wire.security;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/// Stored form of a secret. A password has a salt and many rounds, for people choose them; a token is random, so one
/// round is enough.
sealed interface SecretHash {
  /// More would let one line of a file stop a node for seconds.
  int MOST_ROUNDS = 10_000_000;

  /// `pbkdf2-sha256$ROUNDS$SALT$HASH`, salt and hash in hex.
  record Password(int rounds, byte[] salt, byte[] hash) implements SecretHash {
    private static final String NAME = "PBKDF2WithHmacSHA256";
    private static final Pattern FORM =
        Pattern.compile("pbkdf2-sha256\\$(\\d{1,8})\\$([0-9a-f]{16,128})\\$([0-9a-f]{64})");
    private static final int SALT_BYTES = 16;
    private static final int HASH_BITS = 256;

    static Password of(char[] secret, int rounds, SecureRandom random) {
      byte[] salt = new byte[SALT_BYTES];
      random.nextBytes(salt);
      return new Password(rounds, salt, derived(secret, salt, rounds));
    }

    private static byte[] derived(char[] secret, byte[] salt, int rounds) {
      PBEKeySpec spec = new PBEKeySpec(secret, salt, rounds, HASH_BITS);
      try {
        return SecretKeyFactory.getInstance(NAME).generateSecret(spec).getEncoded();
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("the JDK must have " + NAME, e);
      } finally {
        spec.clearPassword();
      }
    }

    /// Whether it is of `secret`; takes equal time for both answers.
    boolean isOf(char[] secret) {
      return MessageDigest.isEqual(hash, derived(secret, salt, rounds));
    }

    @Override
    public String toString() {
      HexFormat hex = HexFormat.of();
      return "pbkdf2-sha256$" + rounds + "$" + hex.formatHex(salt) + "$" + hex.formatHex(hash);
    }
  }

  /// `sha256$HASH`, the hash in hex.
  record Token(byte[] hash) implements SecretHash {
    private static final Pattern FORM = Pattern.compile("sha256\\$([0-9a-f]{64})");

    static Token of(char[] secret) {
      return new Token(digest(secret));
    }

    @Override
    public String toString() {
      return "sha256$" + HexFormat.of().formatHex(hash);
    }
  }

  /// @throws IllegalArgumentException if `text` has neither form; it is not quoted
  static SecretHash parse(String text) {
    Matcher password = Password.FORM.matcher(text);
    if (password.matches()) {
      int rounds = Integer.parseInt(password.group(1));
      if (rounds > 0 && rounds <= MOST_ROUNDS) {
        return new Password(rounds, HexFormat.of().parseHex(password.group(2)),
            HexFormat.of().parseHex(password.group(3)));
      }
    }
    Matcher token = Token.FORM.matcher(text);
    if (token.matches()) {
      return new Token(HexFormat.of().parseHex(token.group(1)));
    }
    throw new IllegalArgumentException("secret must be a line of `penstock password` (was not)");
  }

  /// SHA-256 of `secret` in UTF-8.
  static byte[] digest(char[] secret) {
    ByteBuffer encoded = StandardCharsets.UTF_8.encode(CharBuffer.wrap(secret));
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(encoded.duplicate());
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK must have SHA-256", e);
    } finally {
      Arrays.fill(encoded.array(), (byte) 0);
    }
  }
}
