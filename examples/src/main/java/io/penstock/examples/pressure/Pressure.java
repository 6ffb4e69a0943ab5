package io.penstock.examples.pressure;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.SeededBytes;
import io.penstock.node.tiers.BuiltTiers;
import io.penstock.node.tiers.TierRecording;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.JournalStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Opens host memory over a disk, and puts windows into it. Written against the public API only: copy from here.
final class Pressure {
  private static final int TOKENS = 16;

  private Pressure() {}

  /// Waits for the disk, so never on an event loop. Closing the tier closes the disk, too.
  ///
  /// @param recording of the stack, whose memory then comes when it is used; null for none
  static BuiltTiers open(PressureOptions options, TierListener listener, @Nullable TierRecording recording) {
    JournalStore ssd = JournalStore.open(options.space(), options.journal());
    long capacity = options.blocks() + options.storedBlocks(); // nothing has to be evicted
    BuiltTiers built = BuiltTiers.open(options.space(),
        List.of(new StackLevel.Host("dram", options.storedBlocks()), new StackLevel.Stored(ssd, capacity)),
        stackOptions(options), listener, recording);
    if (recording == null) {
      prepare(built.stack().arena());
    }
    return built;
  }

  private static StackOptions stackOptions(PressureOptions options) {
    return StackOptions.defaults("pressure").withMode(options.disk().mode()).withIngressBlocks(options.ingressBlocks())
        .withTransferBlocks(options.transferBlocks()).withPromotionBlocks(options.windowBlocks())
        .withBounceBlocks(options.windowBlocks())
        .withBatchBlocks(options.windowBlocks());
  }

  /// Maps all the memory now; the system clears its pages when they are first written.
  private static void prepare(BlockArena arena) {
    if (arena instanceof SlabArena slabs) {
      slabs.prepare(slabs.capacitySlots());
    }
  }

  /// A tier of that memory without a disk: it evicts blocks that have no room.
  static HostTier memoryAlone(PressureOptions options) {
    HostTier memory = new HostTier(options.space(),
        options.storedBlocks(), StackOptions.defaults("dram").withIngressBlocks(options.ingressBlocks()),
        TierListener.noop());
    prepare(memory.arena());
    return memory;
  }

  static List<BlockKey> keys(CacheSpace space, long seed, int blocks) {
    PrefixHasher hasher = new PrefixHasher(List.of());
    List<BlockKey> keys = new ArrayList<>(blocks);
    BlockHash hash = BlockHash.ROOT;
    int[] tokens = new int[TOKENS];
    tokens[0] = Long.hashCode(seed);
    for (int i = 0; i < blocks; i++) {
      hash = hasher.next(hash, tokens);
      keys.add(space.key(hash));
    }
    return keys;
  }

  /// Puts a window: reserve, write, commit. While memory is full of blocks that wait for the disk, the reservation
  /// waits.
  ///
  /// @param makers runs the code that makes the bytes: the thread that grants a reservation is the one that freed
  ///     memory, often the disk's
  static Mono<List<Receipt>> put(BlockTier tier, List<BlockKey> keys, Scheduler makers) {
    return Mono.using(BlockScope::new, scope -> tier.reserve(keys, scope).publishOn(makers).flatMap(reservation -> {
      reservation.drafts().forEach(Pressure::write);
      return reservation.commit(reservation.drafts());
    }), BlockScope::close);
  }

  /// Does the work of a model: fills the block, and states the bytes that it wrote.
  private static void write(BlockDraft draft) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> SeededBytes.fill(draft.key().hash().low(), 0, memory));
    draft.produced(all);
  }

  /// Reads the blocks of `keys` that are there, and compares every byte.
  ///
  /// @param readers compares
  static Mono<Reads> read(BlockTier tier, List<BlockKey> keys, Scheduler readers) {
    return Mono.using(BlockScope::new, scope -> tier.get(keys, scope).publishOn(readers, 1).map(block -> {
      try (block) {
        return block.read(memory -> SeededBytes.mismatch(block.key().hash().low(), 0, memory)) < 0;
      }
    }).collectList()
        .map(sound -> new Reads(keys.size(), keys.size() - sound.size(), sound.stream().filter(good -> !good).count())),
        BlockScope::close);
  }
}
