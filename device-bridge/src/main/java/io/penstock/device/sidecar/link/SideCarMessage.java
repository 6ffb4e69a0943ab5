package io.penstock.device.sidecar.link;

import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import java.util.List;
import java.util.random.RandomGenerator;

/// Messages of a link. The first eight are a client's requests, each with one answer; the others are answers.
public sealed interface SideCarMessage {
  /// Names a client for its life, over all of its connections.
  record ClientId(long high, long low) {
    public static ClientId random(RandomGenerator random) {
      return new ClientId(random.nextLong(), random.nextLong());
    }
  }

  /// @param process number of the client's process
  record Hello(ClientId client, int process) implements SideCarMessage {}

  /// Unmaps all regions but these.
  record Keep(List<Long> regions) implements SideCarMessage {}

  record Register(RegionSpec region) implements SideCarMessage {}

  record Unregister(long region) implements SideCarMessage {}

  record Copy(List<RegionCopy> elements) implements SideCarMessage {}

  record Query(long region) implements SideCarMessage {}

  record Ping() implements SideCarMessage {}

  /// Unmaps everything; the last thing that a client asks for.
  record Bye() implements SideCarMessage {}

  /// @param maxCopies that may be in flight at once
  record Welcome(int maxCopies) implements SideCarMessage {}

  record Done() implements SideCarMessage {}

  record Known(RegionState state, long bytes) implements SideCarMessage {}

  /// @param region that it is about, 0 if none
  record Failed(SideCarCode code, long region, String found) implements SideCarMessage {}
}
