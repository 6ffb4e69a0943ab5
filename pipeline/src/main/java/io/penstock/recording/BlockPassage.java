package io.penstock.recording;

import io.penstock.block.BlockScope;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.LeasedBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/// Blocks on their way from a tier to the scope of their reader. The handles change after the turn: those of the tier's
/// side belong to a scope of the recorded lease.
final class BlockPassage implements TurnStream.Passage<List<LeasedBlock>, List<LeasedBlock>> {
  private final Turns turns;
  private final int tier;
  private final BlockScope scope;

  BlockPassage(Turns turns, int tier, BlockScope scope) {
    this.turns = turns;
    this.tier = tier;
    this.scope = scope;
  }

  @Override
  public List<LeasedBlock> sent(long flow, List<LeasedBlock> blocks) {
    turns.add(RecordedEvent.of(Kind.BLOCK_LIST, flow).ofTier(tier)
        .with(numbers(blocks))
        .with(blocks.stream().map(each -> each.block().key()).toList()));
    List<LeasedBlock> own = new ArrayList<>(blocks.size());
    for (LeasedBlock leased : blocks) {
      own.add(new LeasedBlock(leased.position(), leased.block().share()));
      leased.block().close();
    }
    return own;
  }

  private long[] numbers(List<LeasedBlock> blocks) {
    LongStream positions = blocks.stream().mapToLong(LeasedBlock::position);
    return (turns.tellsChecksums()
        ? LongStream.concat(positions, blocks.stream().mapToLong(each -> PayloadKeeper.checksum(each.block())))
        : positions).toArray();
  }

  @Override
  public void handOver(List<LeasedBlock> blocks) {
    blocks.forEach(leased -> scope.adopt(leased.block()));
  }

  @Override
  public void drop(List<LeasedBlock> blocks) {
    blocks.forEach(leased -> leased.block().close());
  }
}
