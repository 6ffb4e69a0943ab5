package io.penstock.lab.torture;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.lab.torture.AckLog.Word;
import io.penstock.node.content.KvPattern;
import io.penstock.storage.JournalBusyException;
import io.penstock.storage.JournalStore;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/// Work of one thread on a journal, drawn from a seed: new blocks, repeated ones, some removals, reads.
final class TortureHand {
  private static final GranuleRange ALL = GranuleRange.all(TortureJournal.SPACE.layout());
  private static final int MOST_PUT = 24;
  private static final int MOST_REMOVED = 20;
  private static final int AGAIN_PERCENT = 15;
  private static final int READ_PERCENT = 15;

  private final JournalStore store;
  private final AckLog acks;
  private final Random random;
  private final AtomicLong next;
  private final int most;
  private final SlabArena arena = new SlabArena("torture", TortureJournal.SPACE.layout(), MOST_PUT + 1, 1);
  private final TreeMap<Long, StoredBlock> live = new TreeMap<>();
  private List<Long> removed = List.of();

  /// @param next number of the next new block
  /// @param most blocks kept
  TortureHand(JournalStore store, AckLog acks, long seed, AtomicLong next, int most) {
    this.store = store;
    this.acks = acks;
    this.random = new Random(seed);
    this.next = next;
    this.most = most;
  }

  /// @param found blocks that are there already
  /// @param steps after which it ends; endless if 0
  void work(List<StoredBlock> found, int steps) {
    found.forEach(rest -> live.put(TortureJournal.number(rest.key()), rest));
    for (int step = 0; steps == 0 || step < steps; step++) {
      if (random.nextInt(100) < READ_PERCENT) {
        read();
      } else if (random.nextInt(2 * most) < live.size()) {
        remove();
      } else {
        put(random.nextInt(100) < AGAIN_PERCENT ? again() : fresh());
      }
    }
    arena.close();
  }

  private List<Long> fresh() {
    int count = 1 + random.nextInt(MOST_PUT);
    long from = next.getAndAdd(count);
    return LongStream.range(from, from + count).boxed().toList();
  }

  /// Blocks that were just removed, or one that is there.
  private List<Long> again() {
    if (!removed.isEmpty()) {
      List<Long> numbers = removed.subList(0, Math.min(MOST_PUT, removed.size()));
      removed = List.of();
      return numbers;
    }
    return live.isEmpty() ? fresh() : List.of(any());
  }

  private long any() {
    Long one = live.ceilingKey(live.firstKey() + random.nextLong(live.lastKey() - live.firstKey() + 1));
    return requireNonNull(one, "key below the last");
  }

  private void put(List<Long> numbers) {
    acks.say(Word.PUTS, numbers);
    List<Block> blocks = numbers.stream().map(this::block).toList();
    try {
      List<StoredBlock> stored = requireNonNull(store.put(blocks).block());
      acks.say(Word.STORED, numbers);
      for (int i = 0; i < stored.size(); i++) {
        StoredBlock before = live.put(numbers.get(i), stored.get(i));
        if (before != null) {
          before.close();
        }
      }
    } catch (StorageFullException | JournalBusyException e) {
      acks.say(Word.REFUSED, numbers);
      remove();
    } finally {
      blocks.forEach(Block::close);
    }
  }

  private Block block(long number) {
    BlockKey key = TortureJournal.key(number);
    BlockDraft draft = draft(key);
    draft.write(ALL, memory -> KvPattern.fill(key, draft.layout(), ALL, memory));
    draft.produced(ALL);
    return draft.seal();
  }

  private BlockDraft draft(BlockKey key) {
    return requireNonNull(arena.tryClaim(List.of(key)), "slot").getFirst();
  }

  private void remove() {
    if (live.isEmpty()) {
      return;
    }
    List<Long> numbers = new ArrayList<>();
    int keep = random.nextInt(4); // all in a row, or some here and there
    long from = any();
    for (Map.Entry<Long, StoredBlock> each : live.tailMap(from).entrySet()) {
      if (numbers.size() < MOST_REMOVED && (keep == 0 || random.nextInt(keep + 1) == 0)) {
        numbers.add(each.getKey());
      }
    }
    acks.say(Word.REMOVES, numbers);
    numbers.forEach(number -> requireNonNull(live.remove(number)).close());
    store.flush().block();
    acks.say(Word.REMOVED, numbers);
    removed = numbers;
  }

  private void read() {
    if (live.isEmpty()) {
      return;
    }
    long number = any();
    try (BlockDraft draft = draft(TortureJournal.key(number))) {
      store.read(List.of(requireNonNull(live.get(number))), List.of(draft), ALL).block();
      try (Block block = draft.seal()) {
        if (differs(block)) {
          acks.say(Word.WRONG, List.of(number));
        }
      }
    } catch (JournalBusyException e) {
      acks.say(Word.REFUSED, List.of());
    } catch (KvException e) {
      e.printStackTrace();
      acks.say(Word.WRONG, List.of(number));
    }
  }

  /// Whether the bytes of `block` are not those that its key says.
  static boolean differs(Block block) {
    return block.read(memory -> KvPattern.mismatch(block.key(), block.layout(), ALL, memory)) >= 0;
  }
}
