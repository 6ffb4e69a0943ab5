package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.Checks;
import io.penstock.block.GranuleRange;
import io.penstock.block.SpaceId;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.CopyStat;
import io.penstock.tier.Durability;
import io.penstock.tier.Medium;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.tier.TierClosedException;
import java.util.List;
import reactor.core.publisher.Mono;

/// Blocks at rest in the memory of a device.
///
/// | | |
/// |---|---|
/// | places | equal slots, allocated at opening; claim and free are O(1) |
/// | put | one upload, in batches of up to [CopyBatch#MAX_ELEMENTS] blocks; verified on the host right before |
/// | read | one download of just the range; verified when it has arrived |
/// | queue | the device's, bounded: [DeviceBusyException] |
/// | threads | the device's |
/// | full | [DeviceMemoryExhaustedException]: whoever keeps the books does not put more than there are places |
public final class DeviceStore implements BlockStore {
  private final String name;
  private final CacheSpace space;
  private final SpaceId spaceId;
  private final Device device;
  private final DeviceSlots slots;
  private final BlockCopies copies;

  private DeviceStore(String name, CacheSpace space, Device device, DeviceSlots slots) {
    this.name = name;
    this.space = space;
    this.spaceId = space.id();
    this.device = device;
    this.slots = slots;
    this.copies = new BlockCopies(device, "tier " + name, () -> new TierClosedException(name));
  }

  /// Allocates the places of a store.
  ///
  /// @param device stays the caller's
  /// @param name of the store; `hbm`
  /// @return cold; signals [DeviceMemoryExhaustedException]; a cancel gives the memory back
  public static Mono<DeviceStore> open(Device device, String name, CacheSpace space, int capacityBlocks) {
    requireNonNull(name, "name");
    requireNonNull(space, "space");
    Checks.positive("capacityBlocks", capacityBlocks);
    return DeviceSlots.allocate(device, name, space.layout(), capacityBlocks, 1)
        .map(slots -> new DeviceStore(name, space, device, slots));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Medium medium() {
    return Medium.DEVICE;
  }

  @Override
  public CacheSpace space() {
    return space;
  }

  @Override
  public Durability durability() {
    return Durability.VOLATILE;
  }

  @Override
  public long capacityBlocks() {
    return slots.count();
  }

  @Override
  public CopyStat copies() {
    return device.copies();
  }

  /// Places taken.
  public long usedBlocks() {
    return slots.claimed();
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    blocks.forEach(block -> block.key().requireOf(spaceId));
    List<Block> wanted = List.copyOf(blocks);
    return wanted.isEmpty() ? Mono.just(List.of()) : Mono.defer(() -> {
      List<DeviceBlock> places = claim(wanted);
      Mono<List<StoredBlock>> rests = copies.toDevice(wanted, places).then(Mono.fromSupplier(() -> rests(places)));
      return Handover.orBack(rests, () -> places.forEach(DeviceBlock::close),
          unreceived -> unreceived.forEach(StoredBlock::close));
    });
  }

  private List<DeviceBlock> claim(List<Block> blocks) {
    List<DeviceBlock> places;
    try {
      places = blocks.size() > slots.count() ? null : slots.tryClaim(blocks);
    } catch (DeviceClosedException e) {
      throw new TierClosedException(name);
    }
    if (places == null) {
      long blockBytes = space.layout().blockBytes();
      throw new DeviceMemoryExhaustedException(name, blocks.size() * blockBytes,
          (slots.count() - slots.claimed()) * blockBytes);
    }
    return places;
  }

  private List<StoredBlock> rests(List<DeviceBlock> places) {
    return places.stream().<StoredBlock>map(place -> new DeviceRest(place, slots)).toList();
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> rests, List<BlockDraft> drafts, GranuleRange range) {
    if (rests.size() != drafts.size()) {
      throw new IllegalArgumentException("drafts must be " + rests.size() + ", one a rest (was " + drafts.size() + ")");
    }
    range.requireInside(space.layout());
    List<DeviceBlock> sources = rests.stream().map(this::requireMine).toList();
    return copies.toHost(sources, List.copyOf(drafts), range);
  }

  private DeviceBlock requireMine(StoredBlock rest) {
    rest.key().requireOf(spaceId);
    if (rest instanceof DeviceRest mine && mine.home == slots) {
      return mine.block;
    }
    throw new IllegalArgumentException("rest must be of store " + name + " (was " + rest + ")");
  }

  /// None: memory of a device forgets.
  @Override
  public List<StoredBlock> recovered() {
    return List.of();
  }

  /// The memory goes back to the device when the last rest was closed.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      slots.close();
      return copies.close();
    });
  }

  private static final class DeviceRest extends StoredBlock {
    private final DeviceBlock block;
    private final DeviceSlots home;

    /// Takes over `block`.
    DeviceRest(DeviceBlock block, DeviceSlots home) {
      super(block.key());
      this.block = block;
      this.home = home;
    }

    @Override
    protected void free() {
      block.close();
    }
  }
}
