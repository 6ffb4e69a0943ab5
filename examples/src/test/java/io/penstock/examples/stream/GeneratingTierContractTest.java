package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.SeededBytes;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.TierContract;
import io.penstock.tier.BlockTier;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.RegisterExtension;

/// A tier that makes its blocks passes the core of the contract.
final class GeneratingTierContractTest extends TierContract {
  private static final long SEED = 3;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("source", Shape.LAYOUT, 24, 24));

  @Override
  protected BlockTier openFilled() {
    return new GeneratingTier(Shape.SPACE, arena, SEED, 1, 4);
  }

  @Override
  protected List<BlockKey> present() {
    return blocks(0, 8);
  }

  @Override
  protected List<BlockKey> absent() {
    return blocks(1, 4);
  }

  private static List<BlockKey> blocks(int stream, int count) {
    return LongStream.range(0, count)
        .mapToObj(number -> new BlockKey(Shape.SPACE_ID, GeneratingTier.hash(stream, number))).toList();
  }

  @Override
  protected void assertBytes(Block block) {
    long seed = GeneratingTier.seedOf(SEED, block.key());
    assertThat((long) block.read(memory -> SeededBytes.mismatch(seed, 0, memory))).isEqualTo(-1);
  }
}
