package io.penstock.wire.region;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import reactor.core.scheduler.Scheduler;

/// Where a node finds the shared memory of its clients.
///
/// @param path folder of the files that it maps, `/dev/shm` as a rule
/// @param copies runs requests: reads and writes slots, reads blocks, computes checksums
public record RegionFolder(Path path, Scheduler copies) {
  public RegionFolder {
    requireNonNull(path, "path");
    requireNonNull(copies, "copies");
  }
}
