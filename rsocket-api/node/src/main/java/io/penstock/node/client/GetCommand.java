package io.penstock.node.client;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.content.Channel;
import io.penstock.node.content.GeneratedInput;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Carriage;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Reads blocks from a node; every byte is compared with its checksum on arrival.
@Command(
    name = "get",
    description = {"Reads blocks from a node and writes their bytes, in the order of the keys.", "",
      "Every byte is verified on arrival.",
      "If a block is missing nothing is written, and the exit code is 1.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock get --keys-from keys.txt --output copy.bin",
      "  penstock get --model objects --value-part-bytes 256KiB --name step-1 -o a.bin", ""})
final class GetCommand extends ClientCommand {
  /// The outcome in JSON.
  ///
  /// @param bytes written, or read if they were discarded
  /// @param missing keys that the node does not have
  /// @param different keys whose bytes are not the generated ones, with `--verify`
  /// @param carried what carried them
  record Outcome(int blocks, long bytes, List<String> missing, List<String> different, Carriage carried) {}

  @Mixin
  private KeyChoice choice = new KeyChoice();

  @Option(names = {"-o", "--output"}, paramLabel = "FILE",
      description = "Write there instead of to standard output, which - means, too.")
  private @Nullable Path output;

  @Option(names = "--discard", description = "Read and verify, but write nothing.")
  private boolean discard;

  @Option(names = "--bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Write no more than this: leaves out what put added to fill the last block.")
  private long bytes = Long.MAX_VALUE;

  @Option(names = "--verify",
      description = "Compare with what `put --count` generates; a difference makes the exit code 1.")
  private boolean verify;

  @Option(names = "--lease", paramLabel = "ID",
      description = "Read under this lease, which `match --lease` printed; if it has ended, nothing is read.")
  private @Nullable Long lease;

  @Option(names = "--force", description = "Write raw bytes to a terminal.")
  private boolean force;

  @Option(names = "--name", paramLabel = "NAME",
      description = "Read the value of this name from a space of values (--value-part-bytes).")
  private @Nullable String name;

  GetCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    if (Path.of("-").equals(output)) {
      output = null;
    }
    if (isJson() && output == null && !discard) {
      throw new IllegalArgumentException(
          "--json must come with --output or --discard (was without: standard output takes the bytes)");
    }
    if (console.showsResults() && output == null && !discard && !force) {
      throw new IllegalArgumentException(
          "--output, --discard or --force must be given (was none: standard output is a terminal, and blocks are"
              + " raw bytes)");
    }
    if (name != null) {
      return value(config, name);
    }
    List<BlockKey> keys = choice.of(config.space(), console.in());
    requireBytes(keys.size(), (long) keys.size() * config.space().layout().blockBytes());
    if (output != null) {
      OutputFile.require("--output", output);
    }
    return node -> get(node, keys, config.get(NodeSettings.WINDOW_BLOCKS));
  }

  private void requireBytes(int blocks, long most) {
    if (bytes != Long.MAX_VALUE && bytes > most) {
      throw new IllegalArgumentException("--bytes must be <= %s, all of %s (was %s)".formatted(Sizes.exact(most),
          Plural.of(blocks, "block"), Sizes.exact(bytes)));
    }
  }

  private Work value(NodeConfig config, String given) throws IOException {
    NamedValue.requireSpace(config);
    if (choice.isGiven() || verify || bytes != Long.MAX_VALUE || lease != null) {
      throw new IllegalArgumentException(
          "keys, --verify, --bytes and --lease must be left out with --name (was given)");
    }
    if (output != null) {
      OutputFile.require("--output", output);
    }
    NamedValue value = new NamedValue(console, given, patience(), isJson());
    return node -> value.get(node, this::open, place());
  }

  private int get(NodeLink node, List<BlockKey> keys, int windowBlocks) throws IOException {
    try (BlockScope scope = new BlockScope()) {
      Lease read = Answers.of(lease == null
          ? node.tier().lease(keys, OnMiss.SKIP, scope)
          : node.holds().read(lease, keys, scope), patience());
      List<String> missing = missing(keys, read);
      return report(missing.isEmpty()
          ? copy(node, read, windowBlocks, keys.size(), scope)
          : new Outcome(0, 0, missing, List.of(), node.carriage()), keys.size());
    }
  }

  private Outcome copy(NodeLink node, Lease read, int windowBlocks, int all, BlockScope scope) throws IOException {
    int blocks = 0;
    long done = 0;
    List<String> different = new ArrayList<>();
    try (WritableByteChannel to = open(); Progress progress = Progress.of(console, "get", "blocks")) {
      for (List<LeasedBlock> window : read.windows(windowBlocks, scope).toIterable(1)) {
        for (LeasedBlock one : window) {
          try (Block block = one.block()) {
            if (verify && GeneratedInput.differs(block)) {
              different.add(block.key().toString());
            }
            done += write(block, to, bytes - done);
            blocks++;
          }
        }
        console.requireHeard();
        progress.at(blocks, all);
      }
    }
    return new Outcome(blocks, done, List.of(), different, node.carriage());
  }

  private int report(Outcome outcome, int asked) {
    if (isJson()) {
      console.json(outcome);
    } else {
      outcome.missing().forEach(key -> console.say("missing " + key));
      outcome.different().forEach(key -> console.say("different " + key));
      console.say(outcome.missing().isEmpty()
          ? "%s, %s, verified on arrival%s".formatted(Plural.of(outcome.blocks(), "block"),
              Sizes.human(outcome.bytes()), (verify ? " and compared with what was generated" : "") + place()
                  + outcome.carried().text())
          : "%s of %s missing: nothing was read".formatted(Numbers.of(outcome.missing().size()),
              Plural.of(asked, "block")));
    }
    return outcome.missing().isEmpty() && outcome.different().isEmpty() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static List<String> missing(List<BlockKey> keys, Lease read) {
    List<String> missing = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      if (!read.found().get(i)) {
        missing.add(keys.get(i).toString());
      }
    }
    return missing;
  }

  private static long write(Block block, WritableByteChannel to, long most) {
    return block.read(memory -> {
      ByteBuffer part = memory.asSlice(0, Math.min(memory.byteSize(), most)).asByteBuffer();
      long length = part.remaining();
      Channel.writeAll(to, part);
      return length;
    });
  }

  private String place() {
    return output == null || discard ? "" : ", in " + output;
  }

  private WritableByteChannel open() throws IOException {
    if (discard) {
      return Channel.nowhere();
    }
    return output == null
        ? Channels.newChannel(console.out())
        : FileChannel.open(output, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING);
  }
}
