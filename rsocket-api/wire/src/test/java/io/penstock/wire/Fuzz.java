package io.penstock.wire;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/// What the fuzz tests of the wire have in common: a small space, honest streams of it in every shape, and runs that
/// name the seed that repeats a failure.
public final class Fuzz {
  public static final BlockLayout LAYOUT = BlockLayout.attention(2, 4, 1, 4, ElementType.INT8);
  public static final CacheSpace SPACE = CacheSpace.of("fuzz", LAYOUT);
  public static final int KEYS = 6;
  public static final List<BlockKey> ALL = Blocks.keys(SPACE, 0, KEYS);
  static final int[] SLICE_BYTES = {8, 24, 40, 64, 200, 4096};

  private Fuzz() {}

  public static SliceStream[] shapes() {
    return Arrays.stream(SLICE_BYTES).boxed()
        .flatMap(bytes -> Arrays.stream(SliceShape.Order.values()).flatMap(
            order -> IntStream.of(1, 4, 64).mapToObj(window -> new SliceStream(SPACE, window, 0, bytes, order))))
        .toArray(SliceStream[]::new);
  }

  /// The payloads of all keys in each of `shapes`.
  public static List<List<byte[]>> streams(SliceStream[] shapes) {
    return Arrays.stream(shapes).map(shape -> shape.of(ALL, IntStream.range(0, KEYS).boxed().toList())).toList();
  }

  @FunctionalInterface
  public interface Case {
    void run(SplittableRandom random);
  }

  public static void each(int from, int count, Case fuzz) {
    for (int seed = from; seed < from + count; seed++) {
      try {
        fuzz.run(new SplittableRandom(seed));
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e, e);
      }
    }
  }
}
