package io.penstock.s3.serve;

import static java.util.Objects.requireNonNull;

import io.penstock.node.config.DoorPrefixes;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.DoorSpace;
import io.penstock.node.door.DoorSpaces;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.RefusalLog;
import io.penstock.s3.object.Operations;
import io.penstock.s3.sign.Gate;
import io.penstock.wire.security.Access;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// What all connections of a door share. Safe from any thread.
final class S3House {
  final Gate gate;
  final Operations operations;
  private final DoorSpaces spaces;
  final Access access;
  final DoorUses uses;
  final Limits limits;
  final LongSupplier nanos;
  final RefusalLog refusals;
  private final String boot;
  private final AtomicLong requests = new AtomicLong();
  private final AtomicInteger underWay = new AtomicInteger();
  private volatile boolean keepsNone;

  /// @param mostBytes of an object
  /// @param roomNanos for which a body waits for room, all in all
  /// @param stallNanos after which a client that sends or takes nothing in the middle of a request is cut off
  /// @param headNanos after which a client that has not ended the head of a request is cut off
  /// @param domains whose subdomains are buckets
  /// @param prefixes of the names of each user
  record Limits(long mostBytes, long roomNanos, long stallNanos, long headNanos, int mostConnections,
      List<String> domains, DoorPrefixes prefixes) {
    Limits {
      domains = List.copyOf(domains);
    }
  }

  /// @param generation number of this start of the node
  S3House(Gate gate, Operations operations, DoorSpaces spaces, Access access, DoorUses uses, Limits limits,
      LongSupplier nanos, long generation) {
    this.gate = requireNonNull(gate, "gate");
    this.operations = requireNonNull(operations, "operations");
    this.spaces = requireNonNull(spaces, "spaces");
    this.access = requireNonNull(access, "access");
    this.uses = requireNonNull(uses, "uses");
    this.limits = requireNonNull(limits, "limits");
    this.nanos = requireNonNull(nanos, "nanos");
    this.refusals = new RefusalLog(DoorSettings.S3.name(), nanos);
    this.boot = "%016x".formatted(generation);
  }

  /// From now on each response is the last of its connection.
  void keepNone() {
    keepsNone = true;
  }

  boolean keepsNone() {
    return keepsNone;
  }

  /// The space of a user and a bucket.
  DoorSpace spaceOf(String user, String bucket) {
    return spaces.of(Selectors.of(user, bucket, gate::isUser));
  }

  /// Differs for each start of the node.
  String boot() {
    return boot;
  }

  /// A number for a request, which no other request of this door has.
  String nextRequest() {
    return "%016X".formatted(requests.incrementAndGet());
  }

  void begin() {
    underWay.incrementAndGet();
  }

  void end() {
    underWay.decrementAndGet();
  }

  /// Requests that are neither answered nor given up.
  int underWay() {
    return underWay.get();
  }
}
