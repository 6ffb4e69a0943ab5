package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.session.SessionReader;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Puts the blocks of a folder into a node.
@Command(
    name = "import",
    description = {"Puts the blocks that penstock export wrote into a node, as blocks of their session, which is paused"
        + " then.",
      "",
      "All bytes are compared with the manifest before the first block is put, and again as they are sent. A file that"
          + " is damaged, or not of its form, is refused with 65, and a node that keeps blocks of another model, layout"
          + " or fingerprint refuses them with 2; both name what differs. Then nothing is stored.",
      "The folder says what space the blocks are of; of the options of a space only the salt counts.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock import ./chat-17 --connect 10.0.0.2:7733", ""})
final class ImportCommand extends ClientCommand {
  /// The outcome in JSON.
  ///
  /// @param stored blocks that the node lacked
  /// @param present blocks that the node had already
  /// @param kept whether the node knows the session now
  record Outcome(String session, String space, int blocks, long bytes, int stored, int present, boolean kept) {}

  @Parameters(paramLabel = "FOLDER", description = "What penstock export wrote.")
  private @Nullable Path from;

  @Option(names = "--session", paramLabel = "NAME",
      description = "Name of the session at the node (default: the one that was exported).")
  private @Nullable String session;

  ImportCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  boolean needsSpace(NodeConfig config) {
    return false;
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    Path folder = requireNonNull(from, "from");
    Folders.require("FOLDER", folder);
    SessionReader reader = SessionReader.open(folder,
        config.states(SpaceSettings.SALT) ? config.get(SpaceSettings.SALT) : "");
    return node -> {
      try (reader; NodeLink linked = linked(node, reader, folder)) {
        return put(linked, config, reader);
      }
    };
  }

  /// A link that names the space of the blocks.
  private static NodeLink linked(NodeLink node, SessionReader reader, Path folder) {
    try {
      return node.in(reader.space());
    } catch (RemotePermanentException e) {
      Object wanted = e.wanted();
      Object was = e.actual();
      throw e.code() != ErrorCode.SPACE_MISMATCH.code()
          ? e
          : new IllegalArgumentException(wanted == null || was == null
              ? "the blocks of %s must be of a space of the node (%s)".formatted(folder, e.getMessage())
              : "%s of the blocks of %s must be %s, as at the node (was %s)".formatted(
                  String.valueOf(e.field()).replaceFirst("^space\\.", ""), folder, orNone(wanted), orNone(was)),
              e);
    }
  }

  private static Object orNone(Object value) {
    return "".equals(value) ? "none" : value;
  }

  private int put(NodeLink node, NodeConfig config, SessionReader reader) throws IOException {
    String name = session == null ? reader.session() : session;
    SessionUse use = SessionUse.of(SessionId.of(name));
    int all = reader.blocks();
    int stored = 0;
    int present = 0;
    try (Progress progress = Progress.of(console, "import", "blocks")) {
      progress.next("comparing");
      reader.verify(done -> progress.at(done, 2L * all));
      progress.next("storing");
      int most = config.get(NodeSettings.WINDOW_BLOCKS);
      int done = 0;
      for (List<BlockKey> keys = reader.next(most); !keys.isEmpty(); keys = reader.next(most)) {
        WindowPut put = WindowPut.store(node, keys,
            PutTerms.plain().withSession(use).withTokens(reader.tokens(keys)), reader, patience());
        stored += put.receipts().size();
        present += put.present().size();
        done += keys.size();
        progress.at((long) all + done, 2L * all);
        console.requireHeard();
      }
    }
    boolean kept = Answers.of(node.tier().session(use, SessionState.PAUSED), patience());
    return report(new Outcome(name, reader.space().publicId(), all,
        (long) all * reader.space().layout().blockBytes(), stored, present, kept));
  }

  private int report(Outcome outcome) {
    int elsewhere = outcome.blocks() - outcome.stored() - outcome.present();
    if (isJson()) {
      console.json(outcome);
    } else {
      console.print("%s, %s, verified: %s stored, %s there already%s%s".formatted(
          Plural.of(outcome.blocks(), "block"), Sizes.human(outcome.bytes()), Numbers.of(outcome.stored()),
          Numbers.of(outcome.present()),
          elsewhere == 0 ? "" : ", " + Numbers.of(elsewhere) + " being written by another client",
          outcome.kept() ? "" : "; the node keeps no sessions (--policy sessions)"));
    }
    return elsewhere == 0 ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }
}
