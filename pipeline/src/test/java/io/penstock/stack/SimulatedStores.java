package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The stores of a [StackSimulation], whose copies end in the order of its seed, and what goes wrong with them.
final class SimulatedStores {
  static final CacheSpace SPACE = Blocks.smallSpace();

  private final Random random;
  /// Whether stores fail now and then, and bytes get damaged.
  private final boolean faulty;
  /// Whether the disk is unhealthy now and then: while it is off, nothing that was begun there ends.
  private final boolean weak;
  private final List<Runnable> tasks = new ArrayList<>();
  private final List<Runnable> diskTasks = new ArrayList<>();
  private final List<MemoryStore> stores = new ArrayList<>();
  private @Nullable FaultyStore disk;

  SimulatedStores(Random random, boolean faulty, boolean weak) {
    this.random = random;
    this.faulty = faulty;
    this.weak = weak;
  }

  /// What a store reports now and then.
  static final class Fault extends TransientKvException {
    Fault() {
      super("a fault of the simulation");
    }
  }

  /// Levels of any of device, host, disk, with a store each.
  List<StackLevel> levels(StackOptions.Mode mode) {
    List<StackLevel> levels = new ArrayList<>();
    int shape = 1 + random.nextInt(7);
    int capacity = 0;
    for (int kind = 0; kind < 3; kind++) {
      if ((shape >> kind & 1) == 1) {
        capacity = mode == StackOptions.Mode.WRITE_THROUGH ? capacity + 1 + random.nextInt(4) : 1 + random.nextInt(4);
        levels.add(switch (kind) {
          case 0 -> store("hbm", Medium.DEVICE, capacity);
          case 1 -> new StackLevel.Host("dram", capacity);
          default -> store("ssd", Medium.DISK, capacity);
        });
      }
    }
    return levels;
  }

  private StackLevel store(String name, Medium medium, int capacity) {
    boolean onDisk = medium == Medium.DISK;
    MemoryStore store =
        new MemoryStore(name, medium, SPACE, onDisk ? Long.MAX_VALUE : capacity, onDisk ? diskTasks::add : tasks::add);
    stores.add(store);
    FaultyStore watched = new FaultyStore(store).puts(oneAtATime(name));
    FaultyStore last = faulty ? new FaultyStore(watched).puts(this::maybePut).reads(this::maybe) : watched;
    disk = onDisk ? last : disk;
    return new StackLevel.Stored(last, capacity);
  }

  /// A store has a line of one: whatever commits and moves there are, they wait for each other.
  private static UnaryOperator<Mono<List<StoredBlock>>> oneAtATime(String name) {
    AtomicInteger puts = new AtomicInteger();
    return put -> Mono.defer(() -> puts.incrementAndGet() > 1
        ? Mono.error(new AssertionError("puts of " + name + " under way must be <= 1 (was " + puts + ")"))
        : put.doOnTerminate(puts::decrementAndGet));
  }

  /// Fails now and then, in one of several ways.
  private Mono<Void> maybe(Mono<Void> answer) {
    return switch (random.nextInt(30)) {
      case 0 -> throw new Fault();
      case 1 -> Mono.error(new Fault());
      case 3 -> Mono.error(busy());
      case 2 -> answer.then(Mono.error(new Fault())); // it was done, and the stack does not know
      default -> answer;
    };
  }

  private Mono<List<StoredBlock>> maybePut(Mono<List<StoredBlock>> answer) {
    return switch (random.nextInt(30)) {
      case 0 -> throw new Fault();
      case 1 -> Mono.error(new Fault());
      case 3, 4 -> Mono.error(busy());
      case 2 -> // the blocks were stored, and taken back
        answer.doOnNext(stored -> stored.forEach(StoredBlock::close)).then(Mono.error(new Fault()));
      default -> answer;
    };
  }

  private StoreBusyException busy() {
    return new StoreBusyException("busy", Mono.create(sink -> tasks.add(sink::success)));
  }

  /// Lets the disk be well, or not.
  void weaken() {
    if (weak && disk != null && random.nextInt(20) == 0) {
      disk.health(StoreHealth.State.values()[random.nextInt(3)]);
    }
  }

  private boolean answers() {
    return disk == null || disk.health().state().gives();
  }

  /// What can be done now.
  List<Runnable> ready() {
    return diskTasks.isEmpty() || !answers() || (!tasks.isEmpty() && random.nextBoolean()) ? tasks : diskTasks;
  }

  /// Has a store be short of room.
  void shorten() {
    if (!stores.isEmpty() && random.nextInt(40) == 0) {
      stores.get(random.nextInt(stores.size())).shortage(1 + random.nextInt(2));
    }
  }

  /// Flips a bit of a stored block.
  void damage(List<BlockKey> keys) {
    if (faulty && !stores.isEmpty() && random.nextInt(50) == 0) {
      stores.get(random.nextInt(stores.size())).corrupt(keys.get(random.nextInt(keys.size())), random.nextInt(256));
    }
  }

  /// Everything that was begun ends, on a healthy disk.
  void finish() {
    if (disk != null) {
      disk.health(StoreHealth.State.ACTIVE);
    }
    while (!ready().isEmpty()) {
      ready().removeFirst().run();
    }
  }

  /// No object is kept of a block that is on the last disk alone.
  ///
  /// @param inHost blocks in host memory
  void checkCold(long inHost) {
    MemoryStore last = stores.isEmpty() ? null : stores.getLast();
    if (last != null && last.medium() == Medium.DISK) {
      long elsewhere = inHost + stores.stream().mapToInt(MemoryStore::storedBlocks).sum() - last.storedBlocks();
      assertThat((long) last.storedBlocks() - last.numberedBlocks()).as("blocks on the disk that have an object")
          .isLessThanOrEqualTo(elsewhere);
    }
  }

  /// No place of a device is held.
  void checkClosed() {
    for (MemoryStore store : stores) {
      if (store.medium() != Medium.DISK && !faulty) {
        assertThat(store.storedBlocks()).as("places of %s after the close", store.name()).isZero();
      }
    }
  }

  @Override
  public String toString() {
    return "a disk that is " + (disk == null ? null : disk.health());
  }
}
