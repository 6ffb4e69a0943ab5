package io.penstock.examples.incidents.ours;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.peer.RefusedPuts;
import io.penstock.examples.incidents.script.Words;
import io.penstock.recording.RecordedEvent;
import java.util.ArrayList;
import java.util.List;

/// A put without room waits for it: the disk sets the pace, and no block is dropped.
public final class WaitingPuts extends StackRig {
  private final List<Put> puts = new ArrayList<>();
  private final List<Integer> reused = new ArrayList<>();

  public WaitingPuts() {
    super(RefusedPuts.POOL_BLOCKS, options().withIngressBlocks(256).withMaxWaiters(4096));
    disk.holdPuts();
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case COMMIT -> puts.add(put(keys(input)));
      case TIMER -> disk.answerAll();
      case LEASE -> {
        Read read = read(keys(input));
        disk.answerAll();
        reused.add(read.came.size() * RefusedPuts.BLOCK_TOKENS);
      }
      default -> throw new IllegalArgumentException("input must be one of a pool (was " + input + ")");
    }
  }

  private static List<BlockKey> keys(RecordedEvent input) {
    return Words.keys(input.number(0), (int) input.number(1), (int) input.number(2));
  }

  @Override
  public boolean isGood() {
    return reused.stream().allMatch(tokens -> tokens == RefusedPuts.PROMPT_BLOCKS * RefusedPuts.BLOCK_TOKENS);
  }

  @Override
  public String ending() {
    return "reused tokens of the three prompts: %s; %d of %d puts have receipts".formatted(reused,
        puts.stream().filter(put -> put.receipts != null).count(), puts.size());
  }
}
