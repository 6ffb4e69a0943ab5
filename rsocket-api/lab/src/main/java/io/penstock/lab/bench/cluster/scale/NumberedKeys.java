package io.penstock.lab.bench.cluster.scale;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.List;
import java.util.stream.LongStream;

/// Keys that stand for numbers: the hash is the number under a permutation of 64 bits, so a key tells its number, and a
/// tier need not keep the keys that it has.
record NumberedKeys(SpaceId space) {
  private static final long FIRST = 0xBF58476D1CE4E5B9L;
  private static final long SECOND = 0x94D049BB133111EBL;
  private static final long FIRST_INVERSE = inverse(FIRST);
  private static final long SECOND_INVERSE = inverse(SECOND);
  private static final int[] SHIFTS = {30, 27, 31};
  private static final long OTHER_HALF = 0x9E3779B97F4A7C15L;

  BlockKey key(long number) {
    return new BlockKey(space, new BlockHash(mixed(number), mixed(number + OTHER_HALF)));
  }

  /// Keys of `count` numbers from `first` on.
  List<BlockKey> keys(long first, int count) {
    return LongStream.range(first, first + count).mapToObj(this::key).toList();
  }

  /// The number that a key made here stands for; some other number for any other key.
  static long number(BlockKey key) {
    long value = key.hash().high();
    value = withoutShift(value, SHIFTS[2]) * SECOND_INVERSE;
    value = withoutShift(value, SHIFTS[1]) * FIRST_INVERSE;
    return withoutShift(value, SHIFTS[0]);
  }

  private static long mixed(long number) {
    long value = (number ^ (number >>> SHIFTS[0])) * FIRST;
    value = (value ^ (value >>> SHIFTS[1])) * SECOND;
    return value ^ (value >>> SHIFTS[2]);
  }

  private static long withoutShift(long value, int shift) {
    return value ^ (value >>> shift) ^ (value >>> (2 * shift));
  }

  /// The factor that undoes an odd one, by Newton's method.
  private static long inverse(long odd) {
    long inverse = odd;
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
