package io.penstock.node.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.option.TimeOption;
import io.penstock.node.text.Durations;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Reports which blocks a node has, without using them.
@Command(
    name = "match",
    description = {"Prints how many of the keys, from the first, a node has.", "", "A match does not count as a use.",
      "With --lease the node does not evict the blocks that the lease holds until it has ended; `get --lease ID` reads",
      "under it. A node bounds leases: one holds the first blocks of the prefix, as many as the answer says.",
      "With --prefetch the leased blocks on slower levels are read to memory now, so that the get does not wait.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock match --trace-id 0-15", "  penstock match --trace-id 0-15 --lease=30s",
      "  penstock match --trace-id 0-15 --lease --prefetch", ""})
final class MatchCommand extends ClientCommand {
  /// The answer in JSON.
  ///
  /// @param keys number of keys asked for
  /// @param prefix length of the longest prefix that the node has
  /// @param present number of keys that the node has, prefix or not
  /// @param lease with `--lease`
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Answer(int keys, int prefix, int present, @Nullable Leased lease) {}

  /// @param id 0 if nothing was leased
  /// @param blocks that the lease holds
  record Leased(long id, int blocks, long millis) {}

  @Mixin
  private KeyChoice choice = new KeyChoice();

  @Option(names = "--lease", arity = "0..1", paramLabel = "DURATION", fallbackValue = "10s",
      converter = TimeOption.class,
      description = "Lease the prefix for so long, 10s if none is given; the lease outlives this command.")
  private @Nullable Duration lease;

  @Option(names = "--prefetch", description = "With --lease: read the leased blocks to memory now.")
  private boolean prefetch;

  MatchCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    if (prefetch && lease == null) {
      throw new IllegalArgumentException("--prefetch must come with --lease (was alone)");
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> match(node, keys);
  }

  private int match(NodeLink node, List<BlockKey> keys) {
    Leased leased = lease == null ? null : lease(node, keys, lease);
    Presence present = Answers.of(node.tier().contains(keys), patience());
    Answer answer = new Answer(keys.size(), present.prefix(), present.count(), leased);
    if (isJson()) {
      console.json(answer);
    } else {
      console.print("prefix %s of %s, present %s".formatted(Numbers.of(answer.prefix()), Numbers.of(answer.keys()),
          Numbers.of(answer.present())));
      if (leased != null) {
        console.print(leased.id() == 0
            ? "nothing was leased"
            : "lease %d holds %s for %s".formatted(leased.id(), Plural.of(leased.blocks(), "block"),
                Durations.print(Duration.ofMillis(leased.millis()))));
      }
    }
    return ExitCode.OK;
  }

  private Leased lease(NodeLink node, List<BlockKey> keys, Duration life) {
    ReadLease given = Misuse.of("--lease",
        node.holds().lease(keys, LeaseTerms.defaults().withLife(life).withSurvives(true).withPrefetch(prefetch)),
        patience());
    return new Leased(given.id(), given.leased().count(), given.life().toMillis());
  }
}
