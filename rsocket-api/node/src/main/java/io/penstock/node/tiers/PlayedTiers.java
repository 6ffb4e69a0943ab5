package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.disagg.recording.PlayedRequests;
import io.penstock.node.text.Json;
import io.penstock.pool.share.SharedMemory;
import io.penstock.recording.Player;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedMachine;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The tiers of a recording, opened again.
public final class PlayedTiers implements Player.World {
  private final TierChange change;
  private final Map<String, SharedMemory.Share> shares = new HashMap<>();
  private @Nullable SharedMemory memory;

  /// The tiers as they were recorded.
  public PlayedTiers() {
    this(TierChange.NONE);
  }

  /// The tiers with a change, which do not play the recording, but may be given the recorded calls.
  public PlayedTiers(TierChange change) {
    this.change = change;
  }

  private TierWords words(RecordedEvent opened) {
    return Json.MAPPER.readValue(opened.text(), TierWords.class).with(change);
  }

  @Override
  public List<PlayedStoreSpec> stores(RecordedEvent opened) {
    return words(opened).specs();
  }

  @Override
  public BlockTier open(RecordedEvent opened, TierInputs inputs, List<BlockStore> stores) {
    TierWords words = words(opened);
    TierPlan plan = planned(words);
    TierStack stack = new TierStack(plan.space(), words.levels(plan, stores), words.options(plan),
        TierListener.noop(), inputs, Sampling.none());
    Long prepared = words.preparedBytes();
    stack.arena().prepare(prepared == null ? 0 : prepared);
    return stack;
  }

  private TierPlan planned(TierWords words) {
    TierWords.Room room = words.room();
    if (room != null && change.dram() != null) {
      throw new IllegalArgumentException(
          "--with-change dram needs a recording of one space (was of several, which share memory)");
    }
    return room == null
        ? words.plan()
        : words.plan().withRoom(
            new SpaceRoom(room.name(), share(room), room.leastBlocks(), room.totalBytes(), room.parts()));
  }

  /// The share of a space in memory that the tiers of the recording have together.
  private SharedMemory.Share share(TierWords.Room room) {
    SharedMemory shared = memory;
    if (shared == null) {
      shared = new SharedMemory("dram", room.totalBytes(), ChunkSource.ofSystem());
      memory = shared;
    }
    List<SpaceRoom.Part> parts = room.parts();
    for (SpaceRoom.Part part : parts.subList(Math.min(shares.size(), parts.size()), parts.size())) {
      shares.put(part.name(), shared.share(part.name(), part.weight(), part.quotaBytes()));
    }
    return requireNonNull(shares.get(room.name()), "share");
  }

  @Override
  public RecordedMachine.Played machine(RecordedEvent begin, RecordedMachine machine) {
    return new PlayedRequests(begin, machine);
  }

  @Override
  public void expire(BlockTier tier) {
    ((TierStack) tier).expire();
  }
}
