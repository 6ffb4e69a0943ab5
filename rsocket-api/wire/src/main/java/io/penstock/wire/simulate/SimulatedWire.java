package io.penstock.wire.simulate;

import io.netty.buffer.ByteBufAllocator;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// The two ends of one connection and the wire between them.
final class SimulatedWire {
  final SimulatedTime time;
  final String name;
  final int number;
  final LinkPlan plan;
  final ByteBufAllocator alloc;
  final Consumer<LinkEvent> trace;
  private final RandomGenerator random;
  private final SimulatedConnection client;
  private final SimulatedConnection server;

  SimulatedWire(
      SimulatedTime time, String name, int number, LinkPlan plan, ByteBufAllocator alloc, Consumer<LinkEvent> trace) {
    this.time = time;
    this.name = name;
    this.number = number;
    this.plan = plan;
    this.alloc = alloc;
    this.trace = trace;
    this.random = time.random(name);
    this.client = new SimulatedConnection(this, Direction.UP);
    this.server = new SimulatedConnection(this, Direction.DOWN);
  }

  SimulatedConnection client() {
    return client;
  }

  SimulatedConnection server() {
    return server;
  }

  SimulatedConnection peerOf(Direction sender) {
    return sender == Direction.UP ? server : client;
  }

  long latencyNanos() {
    long min = plan.minLatency().toNanos();
    return min + random.nextLong(plan.maxLatency().toNanos() - min + 1);
  }

  List<LinkFault> faultsOf(Direction direction) {
    return plan.faults().stream().filter(fault -> fault.direction() == direction).toList();
  }

  /// Both ends are gone at once.
  void cut() {
    client.vanish();
    server.vanish();
  }
}
