package io.penstock.cluster.directory;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.LongPredicate;

/// The holders of one block as a map keeps them: for each holder 8 bytes that number its round of announcements, and a
/// byte that numbers its level; ordered by the number of the round. Functions of bytes; an empty array stands for none.
///
/// A member tells the blocks of a tier in rounds of announcements. The number of a round is random, and never used
/// again.
public final class Holders {
  /// No holder.
  public static final byte[] NONE = {};
  /// Most holders kept for a block; further ones are not noted. More than an answer names, so that some are left when
  /// others are gone.
  public static final int MOST = 32;
  private static final int BYTES = Long.BYTES + 1;

  private Holders() {}

  /// The holders with one more, or with its new level.
  ///
  /// @param former rounds of the same member that this one takes the place of
  public static byte[] with(byte[] holders, long round, int level, long[] former) {
    byte[] others = without(holders, each -> each == round || contains(former, each));
    if (others.length >= MOST * BYTES) {
      return others;
    }
    int at = 0;
    while (at < others.length && round(others, at) < round) {
      at += BYTES;
    }
    ByteBuffer to = ByteBuffer.allocate(others.length + BYTES);
    return to.put(others, 0, at).putLong(round).put((byte) level).put(others, at, others.length - at).array();
  }

  /// The holders except those of the rounds.
  public static byte[] without(byte[] holders, LongPredicate rounds) {
    byte[] left = new byte[holders.length];
    int end = 0;
    for (int at = 0; at < holders.length; at += BYTES) {
      if (!rounds.test(round(holders, at))) {
        System.arraycopy(holders, at, left, end, BYTES);
        end += BYTES;
      }
    }
    return end == holders.length ? holders : Arrays.copyOf(left, end);
  }

  /// Whether `rounds`, which are few, has the round.
  public static boolean contains(long[] rounds, long round) {
    for (long each : rounds) {
      if (each == round) {
        return true;
      }
    }
    return false;
  }

  /// Number of holders.
  public static int count(byte[] holders) {
    return holders.length / BYTES;
  }

  /// Round of the holder at `index`.
  public static long roundAt(byte[] holders, int index) {
    return round(holders, index * BYTES);
  }

  /// Level of the holder at `index`.
  public static int levelAt(byte[] holders, int index) {
    return Byte.toUnsignedInt(holders[index * BYTES + Long.BYTES]);
  }

  private static long round(byte[] holders, int at) {
    return ByteBuffer.wrap(holders).getLong(at);
  }
}
