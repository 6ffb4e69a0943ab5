package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;

import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A pool of memory over a disk that is written when memory is full, as Mooncake Store with `offload_on_evict`.
///
/// From the issue: three prompts of 50,000 tokens are stored one after the other, and asked for again: 49,984, 16,384
/// and 0 tokens come back. From the change that added the option: an eviction only queues blocks for the disk, and
/// their memory is free after the next heartbeat. Inferred: what comes before that heartbeat finds no memory, is
/// refused, and the connector goes on without it. A pool of 1,037 blocks of 64 tokens gives exactly these figures.
public final class RefusedPuts implements Subject {
  public static final int BLOCK_TOKENS = 64;
  public static final int POOL_BLOCKS = 1037;
  public static final int PROMPT_BLOCKS = 781;
  /// Most tokens of a step of prefill, in blocks.
  private static final int CHUNK_BLOCKS = 256;

  /// A block of a prompt.
  private record Place(long prompt, int block) {}

  private final int poolBlocks;
  private final Set<Place> memory = new LinkedHashSet<>();
  private final List<Place> queued = new ArrayList<>();
  private final Set<Place> disk = new LinkedHashSet<>();
  private final List<Long> reused = new ArrayList<>();
  private @Nullable String refused;

  /// The pool of the issue.
  public RefusedPuts() {
    this(POOL_BLOCKS);
  }

  /// @param poolBlocks blocks that memory has room for
  public RefusedPuts(int poolBlocks) {
    this.poolBlocks = poolBlocks;
  }

  /// Three prompts are stored in chunks, within one heartbeat. Then each is asked for again.
  public static Schedule schedule() {
    Schedule schedule = new Schedule();
    for (long prompt = 1; prompt <= 3; prompt++) {
      for (int from = 0; from < PROMPT_BLOCKS; from += CHUNK_BLOCKS) {
        schedule.at((prompt - 1) * 2000 + from).input(Kind.COMMIT, prompt, "chunk of prompt " + prompt, prompt, from,
            Math.min(from + CHUNK_BLOCKS, PROMPT_BLOCKS));
      }
    }
    schedule.at(10_000).input(Kind.TIMER, 0, "heartbeat: the disk has written what was queued");
    for (long prompt = 1; prompt <= 3; prompt++) {
      schedule.at(60_000 + prompt * 5000).input(Kind.LEASE, prompt, "prompt " + prompt + " again", prompt, 0,
          PROMPT_BLOCKS);
    }
    return schedule;
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case COMMIT -> put(input, facts);
      case TIMER -> {
        disk.addAll(queued);
        memory.removeAll(queued);
        facts.accept(fact(Kind.MOVED, 0, "memory > disk", List.of(), queued.size()));
        queued.clear();
      }
      case LEASE -> {
        int block = 0;
        while (block < PROMPT_BLOCKS && has(new Place(input.number(0), block))) {
          block++;
        }
        reused.add((long) block * BLOCK_TOKENS);
        facts.accept(fact(Kind.LEASED, input.flow(), "longest prefix, in tokens", List.of(), reused.getLast()));
      }
      default -> throw new IllegalArgumentException("input must be one of a pool (was " + input + ")");
    }
  }

  private boolean has(Place place) {
    return memory.contains(place) || disk.contains(place);
  }

  private void put(RecordedEvent input, Consumer<RecordedEvent> facts) {
    int block = (int) input.number(1);
    int end = (int) input.number(2);
    int first = block;
    while (block < end && memory.size() < poolBlocks) {
      memory.add(new Place(input.number(0), block));
      block++;
    }
    if (block > first) {
      facts.accept(fact(Kind.STORED, input.flow(), "memory, blocks from, to", List.of(), first, block));
    }
    if (block < end) {
      evict(end - block);
      refused = "blocks %d to %d of prompt %d are neither in memory nor on the disk, and their writer does not know it"
          .formatted(block, end - 1, input.number(0));
      facts.accept(fact(Kind.FLOW_ERROR, input.flow(), "NO_AVAILABLE_HANDLE, blocks from, to", List.of(), block, end));
    }
  }

  /// Queues the oldest blocks for the disk. Their memory is free when they are there, so this put has none of it.
  private void evict(int blocks) {
    memory.stream().filter(place -> !queued.contains(place)).limit(blocks).toList().forEach(queued::add);
  }

  @Override
  public @Nullable String violation() {
    return refused;
  }

  @Override
  public boolean isGood() {
    return reused.stream().allMatch(tokens -> tokens == (long) PROMPT_BLOCKS * BLOCK_TOKENS);
  }

  @Override
  public String ending() {
    return "reused tokens of the three prompts: " + reused;
  }
}
