package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSource;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.link.Link.Dialer;
import io.penstock.device.sidecar.server.SimulatedMemories.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A node and its clients under virtual time, with connections that are slow, cut and silent, processes that die, and
/// memory that cannot be mapped for a while, in the order of a seed: every call ends, a healthy client has all of its
/// regions mapped, nothing is mapped twice, bytes are right, and nothing stays mapped for a dead client.
@Timeout(600)
final class SideCarSimulationTest {
  private static final Duration LIFE = Duration.ofSeconds(10);

  @Test
  void clients_thatLoseTheirNode_getItBack_over60Seeds() {
    run(0, 60);
  }

  @Test
  @Tag("proof")
  @Timeout(3600)
  void clients_thatLoseTheirNode_getItBack_over20000Seeds() {
    run(60, 20_000);
  }

  private static void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try {
        new Simulation(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Simulation {
    private static final int SLOTS = 4;
    private static final int SLOT_BYTES = 64;
    private static final int BYTES = SLOTS * SLOT_BYTES;

    private final Random random;
    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final SimulatedLinks links;
    private final SimulatedMemories memories;
    private final List<Process> processes = new ArrayList<>();
    private final long delay = TimeUnit.MILLISECONDS.toNanos(400);
    private SideCarNode node;
    private int lastProcess;
    private @Nullable Throwable unexpected;

    Simulation(long seed) {
      random = new Random(seed * 0x9E3779B97F4A7C15L);
      links = new SimulatedLinks(clock, random, delay / (1 + random.nextInt(20)));
      memories = new SimulatedMemories(clock, random, delay / (1 + random.nextInt(20)));
      node = newNode();
      for (int i = 0; i <= random.nextInt(3); i++) {
        processes.add(new Process());
      }
    }

    private SideCarNode newNode() {
      SideCarNode made = new SideCarNode(
          SideCarServerOptions.defaults().withMaxCopies(1 + random.nextInt(3)).withTimeToLive(LIFE), memories,
          memories.staging, clock, clock);
      links.node(made);
      return made;
    }

    void run() {
      for (int step = 0; step < 80; step++) {
        processes.get(random.nextInt(processes.size())).act();
        if (random.nextInt(12) == 0) {
          disturb();
        }
        pass(random.nextInt(300));
        processes.forEach(Process::look);
      }
      heal();
      processes.forEach(Process::proveUsable);
      processes.forEach(Process::close);
      pass(1_000);
      assertThat(memories.mapped()).as("mapped for dead clients").isEmpty();
      assertThat(node.stat().clients()).isZero();
      assertThat(node.stat().bytes()).isZero();
      node.close().subscribe();
      pass(1_000);
      memories.close();
      assertThat(unexpected).isNull();
      assertThat(memories.mistakes).isEmpty();
    }

    private void pass(long millis) {
      clock.advanceTimeBy(Duration.ofMillis(millis));
    }

    private void disturb() {
      List<SimulatedLinks.Cable> open = links.open();
      Process one = processes.get(random.nextInt(processes.size()));
      switch (random.nextInt(7)) {
        case 0 -> links.refuse(random.nextBoolean());
        case 1 -> one.toggleBroken();
        case 2 -> restartNode();
        case 3 -> one.die();
        case 4 ->
          open.stream().skip(random.nextInt(1 + open.size())).findFirst().ifPresent(SimulatedLinks.Cable::silence);
        default -> open.stream().skip(random.nextInt(1 + open.size())).findFirst().ifPresent(SimulatedLinks.Cable::cut);
      }
    }

    /// The old node unmaps its regions in its own time; the new one has none.
    private void restartNode() {
      node.close().subscribe();
      links.node(null);
      links.open().forEach(SimulatedLinks.Cable::cut);
      pass(5_000);
      node = newNode();
    }

    private void heal() {
      links.refuse(false);
      memories.broken.clear();
      pass(60_000);
      processes.forEach(Process::look);
    }

    private final class Process {
      private final List<RegionSpec> all = new ArrayList<>();
      private final Set<Integer> busy = new HashSet<>();
      private final List<Call> calls = new ArrayList<>();
      private final Set<Long> known = new HashSet<>();
      private int number;
      private SideCarClient client;
      private SimulatedLinks.@Nullable Cable cable;

      Process() {
        begin();
      }

      private void begin() {
        int mine = ++lastProcess;
        number = mine;
        cable = null;
        all.clear();
        known.clear();
        busy.clear();
        calls.clear();
        int regions = 2 + random.nextInt(3);
        for (int id = 1; id <= regions; id++) {
          RegionSource source = random.nextInt(3) == 0 ? new IpcBuffer(0, IpcKey.of(new byte[65])) : new Memfd(id);
          RegionSpec region = new RegionSpec(id, BYTES, source);
          all.add(region);
          memories.make(number, region);
        }
        Dialer dialer = links.dialer(connected -> {
          if (mine == number) {
            cable = connected;
          } else {
            connected.killClient();
          }
        });
        client = new SideCarClient(SideCarClientOptions.defaults().withTimeToLive(LIFE).withMaxWaiting(4), events -> {
          if (mine == number) {
            dialer.dial(events);
          }
        }, clock, new Random(random.nextLong()), mine);
        client.health().subscribe(health -> {
          if (health.isHealthy() && mine == number && cable != null && cable.isWhole()) {
            known.forEach(region -> assertThat(memories.mapped()).as("healthy").contains(owner(region)));
          }
        }, error -> unexpected = error);
      }

      private Owner owner(long region) {
        return new Owner(number, region);
      }

      void act() {
        RegionSpec region = all.get(random.nextInt(all.size()));
        switch (random.nextInt(10)) {
          case 0, 1, 2 -> make(new Call(client.register(region).doOnSuccess(nothing -> known.add(region.id()))));
          case 3 -> {
            known.remove(region.id());
            make(new Call(client.unregister(region.id()).doOnSuccess(nothing -> known.remove(region.id()))));
          }
          case 4 -> make(new Call(client.state(region.id()).then()).asQuestion());
          default -> copy(region, all.get(random.nextInt(all.size())), random.nextInt(SLOTS));
        }
      }

      private void copy(RegionSpec from, RegionSpec to, int slot) {
        if (from.equals(to) || !busy.add(slot)) {
          return;
        }
        byte[] bytes = new byte[SLOT_BYTES];
        random.nextBytes(bytes);
        memories.put(owner(from.id()), (long) slot * SLOT_BYTES, bytes);
        Call call = new Call(
            client.copy(List.of(new RegionCopy(from.id(), (long) slot * SLOT_BYTES, to.id(), (long) slot * SLOT_BYTES,
                SLOT_BYTES))));
        call.slot = slot;
        call.bytes = bytes;
        call.target = owner(to.id());
        make(call);
      }

      private void make(Call call) {
        boolean healthy = client.isHealthy();
        calls.add(call);
        call.begin();
        assertThat(healthy || call.ended || call.isQuestion).as("calls while down end at once").isTrue();
      }

      /// Looks at the calls that have ended.
      void look() {
        for (Call call : List.copyOf(calls)) {
          if (call.ended) {
            calls.remove(call);
            call.check();
            busy.remove(call.slot);
          }
        }
      }

      void toggleBroken() {
        Owner owner = owner(all.get(random.nextInt(all.size())).id());
        if (!memories.broken.remove(owner)) {
          memories.broken.add(owner);
        }
      }

      /// Killed; another takes its place.
      void die() {
        int old = number;
        if (cable != null) {
          cable.killClient();
        }
        begin();
        pass(30_000);
        assertThat(memories.mapped()).as("mapped by a dead process").noneMatch(owner -> owner.process() == old);
      }

      void proveUsable() {
        assertThat(calls).as("calls that never end").isEmpty();
        assertThat(client.status().failure()).isEmpty();
        assertThat(client.isHealthy()).as("%s", client.status()).isTrue();
        all.forEach(region -> make(new Call(client.register(region))));
        pass(5_000);
        for (int i = 0; i < all.size(); i++) {
          busy.clear();
          copy(all.get(i), all.get((i + 1) % all.size()), 0);
          pass(2_000);
          assertThat(calls).allMatch(call -> call.ended && call.failure == null);
          look();
        }
      }

      void close() {
        Call call = new Call(client.close()).asQuestion();
        make(call);
        pass(5_000);
        assertThat(call.ended).as("close ends").isTrue();
      }
    }

    private final class Call {
      private final Mono<Void> work;
      private boolean ended;
      private boolean isQuestion;
      private @Nullable Throwable failure;
      private int slot = -1;
      private byte[] bytes = {};
      private @Nullable Owner target;

      Call(Mono<Void> work) {
        this.work = work;
      }

      /// May be asked at any time.
      Call asQuestion() {
        isQuestion = true;
        return this;
      }

      void begin() {
        work.subscribe(nothing -> {}, error -> {
          failure = error;
          ended = true;
        }, () -> ended = true);
      }

      void check() {
        if (failure == null && target != null) {
          assertThat(memories.get(target, (long) slot * SLOT_BYTES, SLOT_BYTES)).as("bytes").isEqualTo(bytes);
        } else if (failure != null) {
          assertThat(failure).isInstanceOf(SideCarFailure.class);
          SideCarCode code = ((SideCarFailure) failure).code();
          assertThat(code).as("%s", failure.getMessage()).isIn(SideCarCode.DOWN, SideCarCode.CLOSED,
              SideCarCode.UNKNOWN_REGION,
              SideCarCode.REGION_CLOSING, SideCarCode.NOT_MAPPED, SideCarCode.NODE_CLOSED);
        }
      }
    }
  }
}
