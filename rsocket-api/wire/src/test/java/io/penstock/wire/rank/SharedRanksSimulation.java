package io.penstock.wire.rank;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.disagg.registry.Registrant;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistrationRefusedException;
import io.penstock.disagg.registry.RegistryApartException;
import io.penstock.disagg.registry.RegistryOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Registries of a cluster that die, join and are split, and processes of ranks that register with any of them, beat,
/// leave, die and come again: in virtual time, under one seed.
final class SharedRanksSimulation {
  private static final int INSTANCES = 3;
  private static final int NODES = 3;
  private static final int LONGEST_MILLIS = 200;
  private static final int STEP_MILLIS = 4000;
  /// Splits last long enough for ranks to be told to be lost.
  private static final int LONG_STEP_MILLIS = 40_000;
  private static final RegistryOptions OPTIONS =
      RegistryOptions.defaults().withBootstrap(Duration.ofDays(1)); // states of all registries are equal
  private static final Manifest[] SHAPES = {shape(2), shape(3)};

  final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  final Random random;
  private final SimulatedTable table;
  private final List<Node> nodes = new ArrayList<>();
  private final List<Process> processes = new ArrayList<>();
  private final StringBuilder history = new StringBuilder();
  private final int longestStepMillis;
  private int started;

  SharedRanksSimulation(long seed) {
    this.random = new Random(seed);
    this.longestStepMillis = random.nextInt(3) == 0 ? LONG_STEP_MILLIS : STEP_MILLIS;
    this.table = new SimulatedTable(time, random, LONGEST_MILLIS);
    for (int i = 0; i < NODES; i++) {
      join();
    }
  }

  private static Manifest shape(int layers) {
    return Manifest.of("m", BlockLayout.attention(layers, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(2));
  }

  private void say(String what) {
    history.append(time.now(TimeUnit.MILLISECONDS)).append(' ').append(what).append('\n');
  }

  String history() {
    return history.toString();
  }

  /// A node with a registry.
  final class Node {
    final SimulatedTable.Copy copy;
    final RankRegistry registry;
    private final Disposable joined;
    private final Disposable expiring;
    final String name = "node" + started++;

    Node(int side) {
      SharedRanks share = new SharedRanks(time, random);
      registry = new RankRegistry(OPTIONS, () -> time.now(TimeUnit.NANOSECONDS), gone -> {}, share, random);
      copy = table.join(side);
      joined = share.join(registry, copy);
      expiring = time.schedulePeriodically(registry::expire, 1, 1, TimeUnit.SECONDS);
    }

    void die() {
      say(name + " dies");
      copy.die();
      joined.dispose();
      expiring.dispose();
      nodes.remove(this);
      processes.stream().filter(each -> each.at == this)
          .forEach(each -> time.schedule(each::beat, random.nextInt(1000), TimeUnit.MILLISECONDS));
    }

    /// Ranks and where they are, of all instances.
    TreeMap<Incarnation, String> shown() {
      TreeMap<Incarnation, String> all = new TreeMap<>(
          Comparator.comparing(Incarnation::rank).thenComparingLong(Incarnation::generation));
      for (InstanceView view : registry.instances()) {
        view.ranks().forEach(rank -> all.put(rank.who(), view.manifest().layers() + " " + rank.endpoint() + " "
            + rank.engine()));
      }
      return all;
    }
  }

  /// One process that wants to be a rank.
  final class Process {
    final RankId rank;
    final RankOwner owner;
    final Manifest shape;
    final int port = 1 + started++;
    @Nullable Node at;
    long generation = -1;
    boolean isRegistered;
    boolean isDraining;
    boolean isOver;
    long sinceMillis;
    private @Nullable Disposable beats;

    Process(RankId rank, RankOwner owner, Manifest shape) {
      this.rank = rank;
      this.owner = owner;
      this.shape = shape;
    }

    private Registration registration() {
      return new Registration(Side.PREFILL, rank.since(generation), 1, shape, new Endpoint("h", port),
          new Engine(Engine.Role.BOTH, "http://h:" + port, isDraining));
    }

    private Registrant by() {
      return new Registrant(owner, "address", this);
    }

    void begin() {
      beats = time.schedulePeriodically(this::beat, random.nextInt(500), OPTIONS.heartbeat().toMillis(),
          TimeUnit.MILLISECONDS);
    }

    void beat() {
      if (isOver) {
        return;
      }
      Node to = at;
      if (to == null || !nodes.contains(to)) {
        to = nodes.get(random.nextInt(nodes.size()));
        at = to;
        isRegistered = false; // the one before may not have told others
      }
      try {
        if (generation < 0) {
          generation = to.registry.claim(by(), rank, 0);
        }
        if (!isRegistered || !to.registry.heartbeat(owner, rank.since(generation))) {
          isRegistered = false;
          to.registry.register(by(), registration());
          isRegistered = true;
          sinceMillis = time.now(TimeUnit.MILLISECONDS);
          say(rank + " " + generation + " of port " + port + " registers at " + to.name);
        }
      } catch (RankTakenException | RegistryApartException wait) {
        isRegistered = false;
        if (generation >= 0 && wait instanceof RankTakenException) {
          end("taken");
        }
      } catch (RegistrationRefusedException refused) {
        end(refused.getMessage());
      }
    }

    void drainOrNot() {
      isDraining = !isDraining;
      isRegistered = false;
      beat();
    }

    void end(String why) {
      say(rank + " " + generation + " of port " + port + " ends: " + why);
      isOver = true;
      processes.remove(this);
      Disposable mine = beats;
      if (mine != null) {
        mine.dispose();
      }
    }

    void leave() {
      Node to = at;
      if (to != null && nodes.contains(to) && isRegistered) {
        try {
          to.registry.leave(owner, rank.since(generation));
        } catch (RankTakenException e) {
          say("taken at its end");
        }
      }
      end("leaves");
    }

    @Override
    public String toString() {
      return shape.layers() + " h:" + port + " " + registration().engine();
    }
  }

  Node join() {
    Node node = new Node(nodes.isEmpty() ? 0 : nodes.get(random.nextInt(nodes.size())).copy.side());
    nodes.add(node);
    say(node.name + " joins");
    return node;
  }

  List<Node> nodes() {
    return nodes;
  }

  private void startProcess() {
    RankId rank = new RankId("i" + random.nextInt(INSTANCES), random.nextInt(2));
    boolean isStranger = random.nextInt(4) == 0;
    RankOwner owner = RankOwner.ofSecret(("a secret of 16 bytes " + rank + (isStranger ? random.nextInt(2) : ""))
        .getBytes(UTF_8));
    Process process = new Process(rank, owner, SHAPES[random.nextInt(6) == 0 ? 1 : 0]);
    processes.add(process);
    process.begin();
  }

  /// Does something, as chance has it.
  void step(boolean splits) {
    int chance = random.nextInt(100);
    if (chance < 30) {
      startProcess();
    } else if (chance < 40 && !processes.isEmpty()) {
      anyProcess().end("dies");
    } else if (chance < 50 && !processes.isEmpty()) {
      anyProcess().leave();
    } else if (chance < 60 && !processes.isEmpty()) {
      anyProcess().drainOrNot();
    } else if (chance < 65 && nodes.size() > 1) {
      nodes.get(random.nextInt(nodes.size())).die();
    } else if (chance < 75 && nodes.size() < NODES) {
      join();
    } else if (chance < 80 && splits) {
      Node apart = nodes.get(random.nextInt(nodes.size()));
      say(apart.name + " is apart");
      apart.copy.moveTo(1);
    } else if (chance < 85 && splits) {
      say("all are together");
      table.heal();
    }
    time.advanceTimeBy(Duration.ofMillis(random.nextInt(longestStepMillis)));
  }

  private Process anyProcess() {
    return processes.get(random.nextInt(processes.size()));
  }

  /// No fault any more; processes that are alive go on.
  void settle() {
    table.heal();
    say("settles");
    time.advanceTimeBy(OPTIONS.heartbeat().multipliedBy(8));
  }

  /// Ranks that are to be shown after all has settled.
  TreeMap<Incarnation, String> alive(long sinceMillis) {
    TreeMap<Incarnation, String> all = new TreeMap<>(
        Comparator.comparing(Incarnation::rank).thenComparingLong(Incarnation::generation));
    processes.stream().filter(each -> each.isRegistered && each.sinceMillis <= sinceMillis)
        .forEach(each -> all.merge(each.rank.since(each.generation), each.toString(),
            (one, other) -> one + " and " + other));
    return all;
  }

  long nowMillis() {
    return time.now(TimeUnit.MILLISECONDS);
  }

  /// Starts a process for each rank.
  void startAll() {
    for (int i = 0; i < 2 * INSTANCES; i++) {
      Process process = new Process(new RankId("i" + i / 2, i % 2),
          RankOwner.ofSecret(("a secret of 16 bytes " + i).getBytes(UTF_8)), SHAPES[0]);
      processes.add(process);
      process.begin();
    }
    time.advanceTimeBy(Duration.ofSeconds(2));
  }

  /// Nodes die and join, as chance has it, but for the last one.
  void turnOver() {
    if (nodes.size() > 1 && random.nextInt(10) == 0) {
      nodes.get(random.nextInt(nodes.size())).die();
    } else if (nodes.size() < NODES && random.nextInt(5) == 0) {
      join();
    }
    time.advanceTimeBy(Duration.ofMillis(random.nextInt(1000)));
  }
}
