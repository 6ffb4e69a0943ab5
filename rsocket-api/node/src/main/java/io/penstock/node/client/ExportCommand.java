package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.session.SessionWriter;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.BlockTokens;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Writes the blocks of a session into a folder.
@Command(
    name = "export",
    description = {"Writes the blocks of a session into a folder, from which penstock import puts"
        + " them into another node.",
      "",
      "The folder gets blocks.safetensors, and session.json, which names and verifies them.",
      "",
      "The node lists the blocks that the session was the last to use, and those that other sessions have used since,"
          + " as far as it remembers them (--policy sessions). With --tokens and its like the blocks are those of a"
          + " prompt, and with --tokens the manifest has token ids and parents, too.",
      "The node says which space knows the session. The options of a space choose another one, such as one with a"
          + " salt.",
      "Ends with 1 if the node knows no such session, or if blocks left it before they were read; the others are in the"
          + " folder then.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock export chat-17 --connect 10.0.0.1:7733 --to ./chat-17",
      "  penstock export team-a/chat-17 --to ./chat-17 --json", ""})
final class ExportCommand extends ClientCommand {
  /// Blocks that are leased at a time.
  private static final int LEASED = 1024;
  /// How often the list of blocks is begun again when the session changes meanwhile.
  private static final int MOST_LISTS = 4;

  /// The outcome in JSON.
  ///
  /// @param missing blocks that left the node before they were read
  record Outcome(String session, String space, int blocks, long bytes, int missing, String folder) {}

  @Parameters(paramLabel = "SESSION", description = "Name of the session, as engines give it to the node.")
  private @Nullable String session;

  @Option(names = "--to", paramLabel = "FOLDER", required = true,
      description = "Write there. It must be empty. " + Folders.MADE)
  private @Nullable Path to;

  @Option(names = "--space", paramLabel = "ID",
      description = "The space, as the complaint lists them, if several know the session.")
  private @Nullable String space;

  @Mixin
  private KeyChoice choice = new KeyChoice();

  ExportCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  boolean needsSpace(NodeConfig config) {
    return ClientCommand.SPACE.stream().anyMatch(config::states);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    String name = requireNonNull(session, "session");
    SessionId id = SessionId.of(name);
    Path folder = requireNonNull(to, "to");
    Folders.requireEmpty("--to", folder);
    if (needsSpace(config)) {
      return node -> export(node, config, name, id, folder);
    }
    return node -> {
      Optional<CacheSpace> known = known(Answers.of(node.spaces(id), patience()));
      if (known.isEmpty()) {
        return unknown(name);
      }
      try (NodeLink linked = node.in(known.get())) {
        return export(linked, config, name, id, folder);
      }
    };
  }

  private Optional<CacheSpace> known(List<CacheSpace> all) {
    List<CacheSpace> fit =
        all.stream().filter(one -> space == null || one.id().toString().startsWith(space)).toList();
    if (fit.size() > 1 || (fit.isEmpty() && !all.isEmpty())) {
      throw new IllegalArgumentException("--space must be one of %s, which know the session (was %s)".formatted(
          all.stream().map(one -> one.id() + " (" + one.model() + ", " + one.group() + ")").toList(),
          space == null ? "left out" : space));
    }
    return fit.stream().findFirst();
  }

  private int unknown(String name) {
    console.say("session " + name + " is not known to the node, or has no blocks there: nothing was written");
    return ExitCode.FOUND_FAILURE;
  }

  private int export(NodeLink node, NodeConfig config, String name, SessionId id, Path folder) throws IOException {
    BlockTier tier = node.tier();
    CacheSpace of = tier.info().space();
    List<BlockKey> keys = choice.isGiven() ? choice.of(of, console.in()) : keys(tier, id);
    if (keys.isEmpty()) {
      return unknown(name);
    }
    Map<BlockKey, BlockTokens> tokens = choice.hasTokens() ? choice.tokens(of) : Map.of();
    Folders.make(console::say, "--to", folder);
    int blocks;
    try (SessionWriter writer = SessionWriter.begin(folder, name, of, keys.size(), tokens);
        Progress progress = Progress.of(console, "export", "blocks")) {
      for (int from = 0; from < keys.size(); from += LEASED) {
        copy(node, keys.subList(from, Math.min(keys.size(), from + LEASED)), config.get(NodeSettings.WINDOW_BLOCKS),
            block -> {
              writer.add(block);
              progress.at(writer.blocks(), keys.size());
            });
        console.requireHeard();
      }
      writer.finish();
      blocks = writer.blocks();
    }
    return report(new Outcome(name, of.publicId(), blocks, (long) blocks * of.layout().blockBytes(),
        keys.size() - blocks, folder.toString()));
  }

  /// All blocks of the session. A list begins again if its last block goes over to another session meanwhile.
  private List<BlockKey> keys(BlockTier tier, SessionId id) {
    for (int lists = 0; lists < MOST_LISTS; lists++) {
      Set<BlockKey> keys = new LinkedHashSet<>();
      BlockKey after = null;
      do {
        Optional<SessionPage> page = Answers.of(tier.sessionKeys(id, after, Integer.MAX_VALUE).map(Optional::of)
            .defaultIfEmpty(Optional.empty()), patience());
        if (page.isEmpty()) {
          break;
        }
        keys.addAll(page.get().keys());
        after = page.get().next();
      } while (after != null);
      if (after == null) {
        return new ArrayList<>(keys);
      }
    }
    throw new UnavailableException("session must be still while its blocks are listed (was in use); try again");
  }

  private interface Taker {
    void take(Block block);
  }

  private void copy(NodeLink node, List<BlockKey> keys, int windowBlocks, Taker taker) {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = Answers.of(node.tier().lease(keys, OnMiss.SKIP, scope), patience());
      for (List<LeasedBlock> window : lease.windows(windowBlocks, scope).toIterable(1)) {
        for (LeasedBlock one : window) {
          try (Block block = one.block()) {
            taker.take(block);
          }
        }
      }
    }
  }

  private int report(Outcome outcome) {
    if (isJson()) {
      console.json(outcome);
    } else {
      console.print("%s, %s, verified, in %s%s".formatted(Plural.of(outcome.blocks(), "block"),
          Sizes.human(outcome.bytes()), outcome.folder(), outcome.missing() == 0
              ? ""
              : "; " + Numbers.of(outcome.missing()) + " left the node before they were read"));
    }
    return outcome.missing() == 0 ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
