package io.penstock.lab.bench.cluster;

import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.Progress;
import java.io.IOException;
import java.nio.file.Path;

/// One thing that a cluster has to show.
interface Scenario {
  /// Starts its nodes, runs, and ends them.
  ///
  /// @param folder of its own, for logs and disks of the nodes
  /// @throws IOException if the nodes do not start, or answer what no node answers
  Section run(Path folder, Progress progress) throws IOException;
}
