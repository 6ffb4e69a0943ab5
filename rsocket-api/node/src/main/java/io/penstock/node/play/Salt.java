package io.penstock.node.play;

import io.penstock.block.BlockHash;
import io.penstock.block.SpaceId;
import io.penstock.node.cli.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// Salted hashes: HMAC-SHA-256. One thread.
public final class Salt {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int LEAST_BYTES = 16;
  private static final int RANDOM_BYTES = 32;
  private static final int WORD_BYTES = 4;

  private final Mac mac;

  private Salt(byte[] salt) {
    try {
      mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(salt, ALGORITHM));
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every JDK must have " + ALGORITHM, e);
    } finally {
      Arrays.fill(salt, (byte) 0);
    }
  }

  /// A salt from a file, so that several recordings get equal hashes; without a file a random one, which no other
  /// object ever has.
  public static Salt of(@Nullable Path file) {
    if (file == null) {
      byte[] random = new byte[RANDOM_BYTES];
      new SecureRandom().nextBytes(random);
      return new Salt(random);
    }
    try {
      byte[] salt = Files.readAllBytes(file);
      if (salt.length < LEAST_BYTES) {
        throw new DataException("%s must have at least %d bytes of salt (has %d)".formatted(file, LEAST_BYTES,
            salt.length));
      }
      return new Salt(salt);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The salted hash of a block hash: 64 bits, which tell the blocks of a recording apart and take half the room.
  public BlockHash hash(BlockHash hash) {
    return new BlockHash(digest(hash).getLong(), 0);
  }

  /// The salted hash of the id of a space.
  public SpaceId space(SpaceId space) {
    return SpaceId.read(digest(new BlockHash(space.high(), space.low())));
  }

  private ByteBuffer digest(BlockHash hash) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockHash.BYTES);
    hash.write(bytes);
    return ByteBuffer.wrap(mac.doFinal(bytes.array()));
  }

  /// 8 hexadecimal digits in place of `text`.
  public String word(String text) {
    return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)), 0, WORD_BYTES);
  }
}
