package io.penstock.device.sidecar;

import java.util.List;
import java.util.random.RandomGenerator;

/// Messages of a link. The first eight are a client's requests, each with one answer; the others are answers.
sealed interface Message {
  /// Names a client for its life, over all of its connections.
  record ClientId(long high, long low) {
    static ClientId random(RandomGenerator random) {
      return new ClientId(random.nextLong(), random.nextLong());
    }
  }

  /// @param process number of the client's process
  record Hello(ClientId client, int process) implements Message {}

  /// Unmaps all regions but these.
  record Keep(List<Long> regions) implements Message {}

  record Register(SharedRegion region) implements Message {}

  record Unregister(long region) implements Message {}

  record Copy(List<RegionCopy> elements) implements Message {}

  record Query(long region) implements Message {}

  record Ping() implements Message {}

  /// Unmaps everything; the last thing that a client asks for.
  record Bye() implements Message {}

  /// @param maxCopies that may be in flight at once
  record Welcome(int maxCopies) implements Message {}

  record Done() implements Message {}

  record Known(RegionState state, long bytes) implements Message {}

  /// @param region that it is about, 0 if none
  record Failed(SideCarCode code, long region, String found) implements Message {}
}
