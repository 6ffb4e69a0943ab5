package io.penstock.node.client;

import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/// Shows which prefill and decode ranks are there.
@Command(
    name = "registry",
    description = {"Shows the prefill and decode instances that have registered at a node, and their ranks.", "",
      "The node keeps a registry if its setting registry is true. An instance is ready when all its ranks "
          + "have registered. It has failed when some ranks did not register within 300 s. A rank that "
          + "misses two heartbeats of 5 s is removed.",
      "Ends with 69 at a node that keeps no registry.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock serve --registry true", "  penstock registry --connect 127.0.0.1:7733 --json", ""})
final class RegistryCommand extends ClientCommand {
  RegistryCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  boolean isOfOneNode() {
    return true;
  }

  @Override
  boolean needsSpace(NodeConfig config) {
    return false;
  }

  @Override
  Work work(NodeConfig config) {
    return this::show;
  }

  private int show(NodeLink node) {
    List<InstanceView> instances = Answers.of(node.instances(), patience());
    if (isJson()) {
      console.json(instances.stream().map(Shown::of).toList());
    } else if (instances.isEmpty()) {
      console.out().println("no instance has registered");
    } else {
      console.out().print(table(instances).wrapped());
    }
    return ExitCode.OK;
  }

  private static TextTable table(List<InstanceView> instances) {
    TextTable table = new TextTable("INSTANCE", "SIDE", "STATE", "RANKS", "RANK", "GENERATION", "ENDPOINT", "ENGINE");
    for (InstanceView view : instances) {
      Shown one = Shown.of(view);
      String ranks = one.ranks().size() + " of " + one.size();
      for (ShownRank rank : one.ranks()) {
        table.row(one.instance(), one.side(), one.state(), ranks, String.valueOf(rank.rank()),
            String.valueOf(rank.generation()), rank.endpoint(), rank.words());
      }
    }
    return table;
  }

  /// One instance in JSON.
  record Shown(String instance, String side, String state, int version, String model, Parallelism parallelism, int size,
      List<ShownRank> ranks) {
    static Shown of(InstanceView view) {
      return new Shown(view.instance(), side(view), word(view.state()), view.version(), view.manifest().model(),
          view.manifest().parallelism(), view.size(), view.ranks().stream().map(ShownRank::of).toList());
    }

    /// A registry knows two sides. An instance of engines that do both is named so.
    private static String side(InstanceView view) {
      boolean isBoth = !view.ranks().isEmpty() && view.ranks().stream().map(InstanceView.Registered::engine)
          .allMatch(engine -> engine != null && engine.role() == Registration.Engine.Role.BOTH);
      return isBoth ? "both" : word(view.side());
    }

    private static String word(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT);
    }
  }

  /// One rank in JSON.
  ///
  /// @param engine null if the rank names none
  record ShownRank(int rank, long generation, String endpoint, @Nullable ShownEngine engine) {
    static ShownRank of(InstanceView.Registered registered) {
      return new ShownRank(registered.who().rank().rank(), registered.who().generation(),
          registered.endpoint().toString(), ShownEngine.of(registered.engine()));
    }

    String words() {
      return engine == null ? "-" : engine.role() + " " + engine.url() + (engine.draining() ? ", drains" : "");
    }
  }

  /// The HTTP engine of a rank in JSON.
  record ShownEngine(String role, String url, boolean draining) {
    static @Nullable ShownEngine of(Registration.@Nullable Engine engine) {
      return engine == null ? null : new ShownEngine(Shown.word(engine.role()), engine.url(), engine.isDraining());
    }
  }
}
