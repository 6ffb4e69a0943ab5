package io.penstock.disagg.request;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.disagg.request.MoveFailure.PeerRestartedException;
import io.penstock.disagg.request.SimMemory.Slot;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// One move of one shard, over the simulated network: asked for, queued on the link of its source, sent slice by slice.
final class SimTransfer {
  private final LifecycleWorld world;
  private final MoveTicket ticket;
  private final List<Slot> slots;
  private final int part;
  private final LifecycleFault fault;
  private final int[] blocks;
  private final SimPrefill source;
  private MonoSink<Void> sink;
  private int sent;
  private int landed;
  private boolean over;

  private SimTransfer(LifecycleWorld world, SimPrefill source, MoveTicket ticket, List<Slot> slots, int part,
      LifecycleFault fault) {
    this.world = world;
    this.source = source;
    this.ticket = ticket;
    this.slots = slots;
    this.part = part;
    this.fault = fault;
    this.blocks = ticket.blocks().positions(0);
  }

  /// @param part of each block that this source writes
  static ShardMover mover(LifecycleWorld world, List<Slot> slots, int part, LifecycleFault fault) {
    return new ShardMover() {
      @Override
      public Mono<Void> move(MoveTicket ticket) {
        return Mono.create(sink -> new SimTransfer(world, world.prefill(ticket.source().rank()), ticket, slots, part,
            fault).begin(sink));
      }

      @Override
      public Mono<Void> drained(MoveTicket ticket) {
        return Mono.create(sink -> world.later(world.latency(), sink::success));
      }
    };
  }

  private void begin(MonoSink<Void> to) {
    sink = to;
    sink.onDispose(() -> {
      over = true;
      source.rotation.remove(this);
    });
    world.later(world.latency(), this::asked);
  }

  private boolean isFaulty(LifecycleFault.Kind kind) {
    return fault.kind() == kind && ticket.attempt() <= fault.attempts()
        && sent == Math.min(fault.step(), blocks.length - 1);
  }

  private void asked() {
    if (over) {
      return;
    } else if (!source.alive) {
      fail(new LostException());
    } else if (!source.self.equals(ticket.source())) {
      for (int block : blocks) {
        land(new Slice(source.self.generation(), block, 666, false)); // a new process on the port has other bytes
      }
    } else if (!source.knows(ticket.request())) {
      world.later(1_000_000, this::asked); // its rank has not ended its step
    } else if (!source.has(ticket.request())) {
      fail(new PermanentKvException("request must be kept (was not)"));
    } else {
      ticket.accepted();
      if (!isFaulty(LifecycleFault.Kind.STALL)) {
        source.rotation.add(this);
        world.serve(source);
      }
    }
  }

  /// Has its turn on the link; false if it sends nothing any more.
  boolean send() {
    if (over) {
      return false;
    }
    SimPrefill.Read read = source.read(ticket.request(), blocks[sent]);
    if (read == null) {
      fail(new PermanentKvException("request must be kept (was not)"));
      return false;
    }
    source.requests.moved(ticket.request());
    world.sent(ticket.request());
    boolean damaged = isFaulty(LifecycleFault.Kind.FLIP);
    if (isFaulty(LifecycleFault.Kind.DROP)) {
      read.end();
      fail(new LostException());
      return false;
    }
    int block = blocks[sent];
    world.later(LifecycleWorld.SLICE_NANOS, () -> {
      Slice slice = new Slice(source.self.generation(), block, read.end(), damaged);
      long delay = world.latency();
      world.later(delay, () -> land(slice));
      if (fault.kind() == LifecycleFault.Kind.LATE) {
        world.later(delay + world.minutes(), () -> landLate(slice));
      }
    });
    sent++;
    return sent < blocks.length && !isFaulty(LifecycleFault.Kind.STALL);
  }

  private record Slice(long generation, int block, long value, boolean damaged) {}

  /// A slice that comes once more, long after.
  private void landLate(Slice slice) {
    if (ticket.admits(slice.generation())) {
      write(slice);
    }
  }

  private void land(Slice slice) {
    if (!ticket.admits(slice.generation())) {
      fail(new PeerRestartedException(ticket.source()));
    } else if (slice.damaged()) {
      ticket.failed(0, slice.block(), BlockOutcome.CORRUPT);
      count();
    } else {
      write(slice);
      count();
    }
  }

  private void write(Slice slice) {
    Slot slot = slots.get(slice.block());
    if (!slot.owner.equals(ticket.request())) {
      world.violation("a stale byte of " + ticket.request() + " came to " + slot.owner);
    }
    slot.parts[part] = slice.value();
  }

  private void count() {
    ticket.landed(1);
    landed++;
    if (landed == 1) {
      ticket.aux(AuxData.of(ticket.request(), 7, List.of(-0.5), 0));
    }
    if (landed == blocks.length) {
      sink.success();
    }
  }

  /// The connection is lost, or the source says no.
  void fail(Throwable error) {
    if (!over) {
      sink.error(error);
    }
  }

  /// The process at one end is gone.
  static final class LostException extends TransientKvException {
    LostException() {
      super("connection is lost");
    }
  }
}
