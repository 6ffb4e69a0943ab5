package io.penstock.node.door;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.block.CacheSpace;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The doors of a node. A node whose settings open none loads no protocol. Safe from any thread.
public final class NodeDoors {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDoors.class);
  private static final Duration EACH = Duration.ofMillis(250);

  private final NodeConfig config;
  private final Map<DoorSettings, DoorKind> kinds;
  private final List<Opened> opened = new CopyOnWriteArrayList<>();
  /// Spaces of all doors, by name.
  private final Map<String, DoorSpace> spaces = new ConcurrentHashMap<>();
  private final Disposable.Composite running = Disposables.composite();

  private record Opened(DoorSettings settings, Door door, DoorUses uses, DoorSpaces spaces) {
    Facts facts() {
      Map<String, DoorValues.Names> names = new TreeMap<>();
      spaces.all().forEach(space -> names.put(space.name(), space.values().names()));
      return new Facts(settings.name(), door.address().toString(), door.connections(), uses.figures(), names);
    }
  }

  private NodeDoors(NodeConfig config, Map<DoorSettings, DoorKind> kinds) {
    this.config = config;
    this.kinds = kinds;
  }

  /// Finds the protocols that `config` asks for.
  ///
  /// @throws UnavailableException if one is not on the class path
  public static NodeDoors of(NodeConfig config) {
    Map<DoorSettings, DoorKind> kinds = new LinkedHashMap<>();
    for (DoorSettings door : DoorSettings.wanted(config)) {
      kinds.put(door, ServiceLoader.load(DoorKind.class).stream().map(ServiceLoader.Provider::get)
          .filter(kind -> kind.name().equals(door.name())).findFirst()
          .orElseThrow(() -> new UnavailableException(refused(config, door,
              "off without the artifact io.penstock:penstock-" + door.name() + " on the class path, which has the"
                  + " door"))));
    }
    return new NodeDoors(config, kinds);
  }

  private static String refused(NodeConfig config, DoorSettings door, String rule) {
    Effective said = config.effective(door.listen());
    return "%s must be %s (was %s, from %s)".formatted(door.name(), rule, said.text(), said.origin());
  }

  /// What the doors share with the rest of the node.
  ///
  /// @param tls of the node; null for none
  /// @param tiers of all spaces of the settings, as clients of the node see them
  /// @param registry has meters of each door and user from then on
  public record House(@Nullable ServerTls tls, Access access, List<BlockTier> tiers, long generation,
      DoorTerms.Threads threads, DoorTerms.Clocks clocks, MeterRegistry registry) {
    public House {
      requireNonNull(access, "access");
      tiers = List.copyOf(tiers);
      requireNonNull(threads, "threads");
      requireNonNull(clocks, "clocks");
      requireNonNull(registry, "registry");
    }
  }

  /// Opens every door, one after the other.
  ///
  /// @return cold; signals an `IOException` that names the setting of the door which cannot be opened. Doors that were
  ///     opened before it stay open until [#close()]
  public Mono<Void> open(House house) {
    return Flux.fromIterable(kinds.entrySet())
        .concatMap(kind -> open(kind.getKey(), kind.getValue(), house), 1)
        .then(Mono.fromRunnable(() -> {
          if (!kinds.isEmpty()) {
            running.add(Flux.interval(EACH, house.threads.timers()).onBackpressureDrop()
                .concatMap(tick -> removeEnded(), 1).subscribe());
          }
        }));
  }

  private Mono<Void> removeEnded() {
    return Flux.fromIterable(spaces.values()).concatMap(space -> space.values().removeEnded())
        .onErrorResume(failure -> {
          LOG.warn("values that are over stay for now: {}", Reason.of(failure));
          return Mono.empty();
        }).then();
  }

  private Mono<Door> open(DoorSettings settings, DoorKind kind, House house) {
    return Mono.defer(() -> {
      Endpoint place = config.get(settings.listen()).orElseThrow();
      DoorUses uses = new DoorUses(use -> show(house.registry, settings.name(), use));
      ServerTls tls = config.get(settings.tls()) && place.transport() == TransportKind.TCP ? house.tls : null;
      DoorSpaces own = DoorSpaces.of(settings, config, house.tiers, house.threads, house.clocks, spaces);
      own.all().forEach(space -> warnOfLongValues(settings, space));
      return kind.open(new DoorTerms(place, config, tls, house.access, own, uses, house.generation,
          house.threads, house.clocks))
          .onErrorMap(IOException.class, failure -> failure instanceof FileSystemException
              && place.transport() == TransportKind.TCP
                  ? failure // of a file that the door reads, which says itself what it lacks
                  : new IOException(Reason.after(refused(config, settings, "an address where this user can listen"),
                      failure), failure))
          .doOnNext(door -> {
            opened.add(new Opened(settings, door, uses, own));
            Gauge.builder("penstock.door.connections", door, Door::connections).tag("door", settings.name())
                .description("Connections at a door").register(house.registry);
          });
    });
  }

  /// A value for which the space has no room, whatever it evicts, is let go.
  private void warnOfLongValues(DoorSettings settings, DoorSpace space) {
    int most = config.get(settings.mostValue());
    if (most > space.mostValueBytes()) {
      Effective said = config.effective(settings.mostValue());
      LOG.warn("{} must be <= {}, the room of space {}: there is no room for longer values (was {}, from {})",
          said.setting().key(), Sizes.human(space.mostValueBytes()), space.name(), said.text(), said.origin());
    }
  }

  /// Values that are known and lie in memory alone: they end with the node.
  ///
  /// @return cold; takes a moment for each block
  public Mono<Long> inMemoryAlone() {
    return Flux.fromIterable(spaces.values()).concatMap(space -> space.values().inMemoryAlone(), 1)
        .reduce(0L, Long::sum);
  }

  /// Spaces of the doors: those of each size of parts.
  public Set<CacheSpace> spaces() {
    return spaces.values().stream().flatMap(space -> space.tiers().stream()).map(tier -> tier.info().space())
        .collect(Collectors.toSet());
  }

  private static void show(MeterRegistry registry, String door, DoorUses.Use use) {
    for (DoorUses.Kind kind : DoorUses.Kind.values()) {
      boolean isBytes = kind == DoorUses.Kind.BYTES_IN || kind == DoorUses.Kind.BYTES_OUT;
      FunctionCounter.builder(isBytes ? "penstock.door.bytes" : "penstock.door.requests", use, one -> one.of(kind))
          .tag("door", door).tag("user", use.user())
          .tag(isBytes ? "direction" : "outcome", isBytes ? direction(kind) : word(kind))
          .description(isBytes ? "Bytes of values at a door" : "Requests at a door, by what came of them")
          .baseUnit(isBytes ? "bytes" : null).register(registry);
    }
  }

  private static String direction(DoorUses.Kind kind) {
    return kind == DoorUses.Kind.BYTES_IN ? "in" : "out";
  }

  private static String word(DoorUses.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  /// Figures of every open door, for a probe or a person.
  public List<Facts> facts() {
    return opened.stream().map(Opened::facts).toList();
  }

  /// The same figures for `stat`.
  public List<ServerStat.Door> stat() {
    return facts().stream().map(door -> {
      Map<String, Map<String, Long>> users = new TreeMap<>();
      door.users.forEach((user, figures) -> users.put(user, figures.byName()));
      return new ServerStat.Door(door.door, door.address, door.connections, users);
    }).toList();
  }

  /// Figures of one door.
  ///
  /// @param address where it listens
  /// @param users figures by user; the empty name stands for clients without credentials
  /// @param names of values, by space
  public record Facts(String door, String address, int connections, Map<String, DoorUses.Figures> users,
      Map<String, DoorValues.Names> names) {}

  /// Drains every door, side by side. Lazy and idempotent.
  public Mono<Void> drained() {
    return Mono.defer(() -> Flux.fromIterable(opened).flatMap(one -> one.door.drain()).then());
  }

  /// Closes every door, side by side. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> Flux.fromIterable(opened).flatMapDelayError(one -> one.door.close(), 16, 1).then())
        .doFinally(end -> {
          running.dispose();
          spaces.values().forEach(space -> space.values().close());
        });
  }
}
