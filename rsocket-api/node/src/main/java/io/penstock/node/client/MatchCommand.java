package io.penstock.node.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.BlockKey;
import io.penstock.flow.KvGroup;
import io.penstock.flow.KvGroups;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.option.TimeOption;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Durations;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;
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
      "A model of several KV groups without --kv-group: from how many tokens all groups can continue, as a sliding",
      "window needs its last blocks alone and a state its last one.",
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

  /// The answer over several KV groups in JSON.
  ///
  /// @param tokens of the request, whole blocks of every group
  /// @param resumable tokens after which all groups can continue
  record GroupsAnswer(int tokens, int resumable, List<GroupAnswer> groups) {}

  /// @param name of the group
  /// @param blocks of the group that the request needs
  record GroupAnswer(String name, int keys, int prefix, int present, int blocks) {
    private String words() {
      return "%s: prefix %s of %s, present %s; needs %s".formatted(name, Numbers.of(prefix), Numbers.of(keys),
          Numbers.of(present), Plural.of(blocks, "block"));
    }
  }

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
    requirePrefetchWithLease();
    List<BlockKey> keys = choice.of(config.space(), console.in());
    return node -> match(node, keys);
  }

  private void requirePrefetchWithLease() {
    if (prefetch && lease == null) {
      throw new IllegalArgumentException("--prefetch must come with --lease (was alone)");
    }
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

  @Override
  boolean takesGroups() {
    return true;
  }

  @Override
  int overGroups(List<NodeConfig> groups) throws IOException {
    requirePrefetchWithLease();
    if (lease != null) {
      throw new IllegalArgumentException("--lease must come with --kv-group: a lease is of one group (was without)");
    }
    int blockTokens = groups.getFirst().blockTokens();
    List<KvGroup> rules = new ArrayList<>();
    List<Presence> found = new ArrayList<>();
    int tokens = Integer.MAX_VALUE;
    for (NodeConfig group : groups) {
      KvGroup rule = KvGroup.of(group.space());
      List<BlockKey> keys = choice.ofRequest(group.space(), rule.blockTokens() / blockTokens, console.in());
      tokens = Math.min(tokens, Math.multiplyExact(keys.size(), rule.blockTokens()));
      rules.add(rule);
      if (keys.isEmpty()) {
        found.add(Presence.of(0, new BitSet()));
      } else {
        linked(group, node -> {
          found.add(Answers.of(node.tier().contains(keys), patience()));
          return ExitCode.OK;
        });
      }
    }
    KvGroups all = new KvGroups(rules);
    int resumable = all.hit(tokens, found.stream().map(Presence::bits).toList());
    List<GroupAnswer> each = new ArrayList<>();
    for (int i = 0; i < rules.size(); i++) {
      Presence present = found.get(i);
      each.add(new GroupAnswer(groups.get(i).get(LayoutSettings.GROUP).orElseThrow(), present.size(), present.prefix(),
          present.count(), rules.get(i).needed(resumable).cardinality()));
    }
    if (isJson()) {
      console.json(new GroupsAnswer(tokens, resumable, each));
    } else {
      console.print("all groups can continue after %s of %s\n%s".formatted(Numbers.of(resumable),
          Plural.of(tokens, "token"), each.stream().map(GroupAnswer::words).collect(Collectors.joining("\n"))));
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
