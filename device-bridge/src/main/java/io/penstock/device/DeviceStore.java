package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import io.penstock.device.DeviceFailure.DeviceBusyException;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.List;
import reactor.core.publisher.Mono;

/// Blocks in the memory of a device.
///
/// | | |
/// |---|---|
/// | slots | equal, allocated at opening; claim and free are O(1) |
/// | put | one upload, in batches of up to [CopyBatch#MAX_ELEMENTS] blocks; verified on the host right before |
/// | read | one download of just the range; verified on arrival |
/// | queue | the device's, bounded: [DeviceBusyException] |
/// | threads | the device's |
/// | full | [DeviceMemoryExhaustedException]: the stack above never puts more blocks than the store has slots |
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

  /// Allocates the slots of a store.
  ///
  /// @param device stays the caller's
  /// @param name of the store; `hbm`
  /// @return cold; signals [DeviceMemoryExhaustedException]; a cancel frees the memory
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
  public TierStat.Copies copies() {
    return device.copies();
  }

  /// Slots in use.
  public long usedBlocks() {
    return slots.claimed();
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    blocks.forEach(block -> block.key().requireOf(spaceId));
    List<Block> wanted = List.copyOf(blocks);
    return wanted.isEmpty() ? Mono.just(List.of()) : Mono.defer(() -> {
      List<DeviceBlock> places = claim(wanted);
      Mono<List<StoredBlock>> stored = copies.toDevice(wanted, places).then(Mono.fromSupplier(() -> stored(places)));
      return OwnershipTransfer.orRelease(stored, () -> places.forEach(DeviceBlock::close),
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

  private List<StoredBlock> stored(List<DeviceBlock> places) {
    return places.stream().<StoredBlock>map(place -> new DeviceStoredBlock(place, slots)).toList();
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> stored, List<BlockDraft> drafts, GranuleRange range) {
    if (stored.size() != drafts.size()) {
      throw new IllegalArgumentException(
          "drafts must be " + stored.size() + ", one a stored block (was " + drafts.size() + ")");
    }
    range.requireInside(space.layout());
    List<DeviceBlock> sources = stored.stream().map(this::requireMine).toList();
    return copies.toHost(sources, List.copyOf(drafts), range);
  }

  private DeviceBlock requireMine(StoredBlock stored) {
    stored.key().requireOf(spaceId);
    if (stored instanceof DeviceStoredBlock mine && mine.slots == slots) {
      return mine.block;
    }
    throw new IllegalArgumentException("stored block must be of store " + name + " (was " + stored + ")");
  }

  /// None: device memory does not survive its process.
  @Override
  public List<StoredBlock> recovered() {
    return List.of();
  }

  /// The memory goes back to the device when the last stored block was closed.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      slots.close();
      return copies.close();
    });
  }

  private static final class DeviceStoredBlock extends StoredBlock {
    private final DeviceBlock block;
    private final DeviceSlots slots;

    /// Takes over `block`.
    DeviceStoredBlock(DeviceBlock block, DeviceSlots slots) {
      super(block.key());
      this.block = block;
      this.slots = slots;
    }

    @Override
    protected void free() {
      block.close();
    }
  }
}
