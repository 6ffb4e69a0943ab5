package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.InputFile;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.content.BlockInput;
import io.penstock.node.content.FileInput;
import io.penstock.node.content.GeneratedInput;
import io.penstock.node.content.WholeInput;
import io.penstock.node.link.Carriage;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.BlockTokens;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.cluster.tier.ClusterTier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/// Writes blocks into a node.
@Command(
    name = "put",
    description = {"Cuts a file or standard input into blocks and puts them into a node.", "",
      "Prints the key of every block, in order. Unless an option names the keys, a key follows from the content of its"
          + " block and all before it, so equal beginnings share blocks.",
      "At the end it asks the node what became of the blocks: how many were written to a disk, and how many were"
          + " evicted since. Ends with 3 if a block has less than --require.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock put model.bin > keys.txt", "  penstock put --count 100 --seed 7",
      "  penstock put --require written model.bin > keys.txt",
      "  penstock put --cluster --copies 2 --connect 10.0.0.5:7733 model.bin",
      "  penstock put --tokens 1-64 --token-ids kv.bin",
      "  penstock put --model objects --value-part-bytes 256KiB --name step-1 a.bin",
      "  penstock put --model objects --value-part-bytes 256KiB --name step-1 --replace b.bin", ""})
final class PutCommand extends ClientCommand {
  /// Result for one block, in JSON.
  ///
  /// @param stored whether this command stored it
  /// @param present whether the node had it already, so that nothing was sent; if neither, another client is writing it
  record Line(String key, boolean stored, boolean present, @Nullable String tier, @Nullable String durability,
      @Nullable Long sequence) {
    static Line of(BlockKey key, WindowPut put) {
      Receipt receipt = put.receipts().get(key);
      return receipt == null
          ? new Line(key.toString(), false, put.present().contains(key), null, null, null)
          : new Line(key.toString(), true, false, receipt.tier(),
              receipt.durability().name().toLowerCase(Locale.ROOT), receipt.sequence());
    }
  }

  /// The last line of JSON: the result for all blocks.
  ///
  /// @param bytes without the zeros that fill the last block
  /// @param durability stored blocks by what their receipts promised
  /// @param evicted stored blocks that the node no longer had at the end
  /// @param required least promise of every block; null if the command line stated none
  /// @param missingCopies copies that --copies asked for and that no member took
  /// @param carried carriers of the bytes, and their times
  record Total(long blocks, long bytes, long stored, long present, Map<String, Long> durability, long evicted,
      PutFate.@Nullable Required required, long missingCopies, Carriage carried) {}

  /// Reads the name of a durability.
  static final class DurabilityWord implements ITypeConverter<Durability> {
    @Override
    public Durability convert(String text) {
      return Arrays.stream(Durability.values()).filter(each -> PutFate.word(each).equals(text)).findFirst()
          .orElseThrow(() -> new TypeConversionException("must be written, forced or volatile (was " + text + ")"));
    }
  }

  @Parameters(arity = "0..1", paramLabel = "FILE", description = "The file to put; none or - reads standard input.")
  private @Nullable String file;

  @Mixin
  private KeyChoice choice = new KeyChoice();

  @Option(names = "--count", paramLabel = "N",
      description = "Put N generated blocks instead of a file; `get --verify` knows their bytes.")
  private @Nullable Integer count;

  @Option(names = "--seed", paramLabel = "ID",
      description = "With --count: trace id of the first block; the next ids follow (default: 0).")
  private @Nullable Long seed;

  @Option(names = "--name", paramLabel = "NAME",
      description = "Put FILE as one value under this name, into a space of values (--value-part-bytes).")
  private @Nullable String name;

  @Option(names = "--replace",
      description = "With --name: replace the value of this name. Without it such a value stays, and if its length is"
          + " not that of FILE the exit code is 1.")
  private boolean replace;

  @Option(names = "--copies", paramLabel = "N", defaultValue = "1",
      description = "With --cluster: members that get each new block, at different places where there are such, at most"
          + " 8 (default: ${DEFAULT-VALUE}).")
  private int copies = 1;

  @Mixin
  private PinOptions pin = new PinOptions();

  @Option(names = "--group", paramLabel = "NAME", defaultValue = "",
      description = "Add the new blocks to a group: a hit on one of them leases all of them for some time.")
  private String group = "";

  @Option(names = "--token-ids",
      description = "With --tokens: send the token ids with the blocks. A node with kv.events.tokens publishes them in"
          + " its KV events; any other node drops them.")
  private boolean sendsTokens;

  @Option(names = "--require", paramLabel = "DURABILITY", converter = DurabilityWord.class,
      description = "Fail with 3 unless every block has this at the end, also one that was there already: written (on a"
          + " disk, survives the node; serve --stack-mode write_through), forced (survives the machine; also"
          + " --ssd-durability always), or volatile (in the node).")
  private @Nullable Durability required;

  private long blocks;
  private long stored;
  private long present;
  private Map<BlockKey, BlockTokens> tokens = Map.of();

  PutCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    CacheSpace space = config.space();
    tokens = sendsTokens ? choice.tokens(space) : Map.of();
    if (name != null) {
      return value(config, name);
    }
    if (replace) {
      throw new IllegalArgumentException("--replace must be left out without --name (was given)");
    }
    if (count != null) {
      int generated = count;
      long first = seed == null ? 0 : seed;
      requireAlone(generated, first);
      return node -> put(node, config, new GeneratedInput(space.id(), first, generated));
    }
    if (seed != null) {
      throw new IllegalArgumentException(
          "--seed must be left out without --count, for only generated blocks have one (was " + seed + ")");
    }
    List<BlockKey> keys = choice.isGiven() ? choice.of(space, console.in()) : null;
    Path from = file == null || file.equals("-") ? null : InputFile.of(file);
    return node -> put(node, config,
        new FileInput(from == null ? Channels.newChannel(console.in()) : FileChannel.open(from), space, keys));
  }

  @Override
  int copies() {
    return copies;
  }

  private Work value(NodeConfig config, String given) throws IOException {
    NamedValue.requireSpace(config);
    if (count != null || choice.isGiven()) {
      throw new IllegalArgumentException("--count and keys must be left out with --name (was given)");
    }
    if (pin.given() != null || !group.isEmpty() || required != null) {
      throw new IllegalArgumentException(
          "--soft, --hard, --group and --require must be left out with --name, for they are about single blocks "
              + "(was given)");
    }
    Path from = file == null || file.equals("-") ? null : InputFile.of(file);
    NamedValue value = new NamedValue(console, given, patience(), isJson());
    return from != null && Files.isRegularFile(from)
        ? node -> value.put(node, from, replace)
        : node -> whole(node, from, value);
  }

  /// Puts all that standard input or a pipe has.
  ///
  /// @param pipe null for standard input
  private int whole(NodeLink node, @Nullable Path pipe, NamedValue value) throws IOException {
    WholeInput.Bound bound = value.bound(node, pipe == null ? "standard input" : pipe.toString());
    try (InputStream from = pipe == null ? console.in() : Files.newInputStream(pipe);
        WholeInput whole = WholeInput.of(from, bound, null)) {
      return value.put(node, whole.file(), replace);
    }
  }

  private int put(NodeLink node, NodeConfig config, BlockInput blocksToPut) throws IOException {
    PutFate fate = new PutFate(config.space().id(), required);
    try (BlockInput input = blocksToPut; Progress progress = Progress.of(bars(), "put", "blocks")) {
      int most = config.get(NodeSettings.WINDOW_BLOCKS);
      for (List<BlockKey> keys = input.next(most); !keys.isEmpty(); keys = input.next(most)) {
        WindowPut put =
            WindowPut.store(node, keys, PutTerms.plain().withPin(pin.given()).withGroup(group).withTokens(tokens),
                input,
                patience());
        fate.add(keys, put.receipts());
        keys.forEach(key -> tell(Line.of(key, put)));
        progress.at(blocks, Math.max(blocks, all(config)));
      }
      fate.ask(node, patience());
      summary(blocks * config.space().layout().blockBytes() - input.paddingBytes(), input.paddingBytes(),
          node.carriage(), fate, node.tier() instanceof ClusterTier all ? all.missingCopies() : 0);
    }
    return fate.isAsRequired() ? ExitCode.OK : ExitCode.NOT_AS_REQUIRED;
  }

  /// Console for progress bars: none between keys on the same terminal.
  private Console bars() {
    return console.showsResults() ? console.withoutBars() : console;
  }

  /// Blocks of the whole input; 0 if its length is unknown.
  private long all(NodeConfig config) throws IOException {
    if (count != null) {
      return count;
    }
    return file == null || file.equals("-")
        ? 0
        : Math.ceilDiv(Files.size(Path.of(file)), config.layout().blockBytes());
  }

  private void requireAlone(int generated, long first) {
    Checks.positive("--count", generated);
    Checks.notNegative("--seed", first);
    if (file != null) {
      throw new IllegalArgumentException("FILE must be left out with --count (was " + file + ")");
    }
    if (choice.isGiven()) {
      throw new IllegalArgumentException(
          choice.given() + " must be left out with --count, which names its blocks by --seed (was given)");
    }
  }

  private void tell(Line line) {
    blocks++;
    stored += line.stored() ? 1 : 0;
    present += line.present() ? 1 : 0;
    if (isJson()) {
      console.json(line);
    } else {
      console.print(line.key());
    }
  }

  private void summary(long bytes, long paddingBytes, Carriage carried, PutFate fate, long missing) {
    PutFate.Required wanted = fate.required();
    if (isJson()) {
      console
          .json(new Total(blocks, bytes, stored, present, fate.promised(), fate.evicted(), wanted, missing, carried));
    }
    long elsewhere = blocks - stored - present;
    console.say("%s, %s: %s stored%s, %s there already%s%s".formatted(Plural.of(blocks, "block"), Sizes.human(bytes),
        Numbers.of(stored), stored == 0 ? "" : " (" + fate.words() + ")", Numbers.of(present),
        elsewhere == 0 ? "" : ", " + Numbers.of(elsewhere) + " being written by another client",
        carried.text()));
    if (paddingBytes > 0) {
      console.say("%s at the end fill the last block; get them out again with: penstock get --bytes %d"
          .formatted(Plural.of(paddingBytes, "zero byte"), bytes));
    }
    if (missing > 0) {
      console.say("%s must take each block (%s could not be made)".formatted(Plural.of(copies, "member"),
          Plural.of(missing, "copy", "copies")));
    }
    if (wanted != null && wanted.less() > 0) {
      console.say("every block must be %s at the end (%s of %s are not)%s".formatted(wanted.durability(),
          Numbers.of(wanted.less()), Numbers.of(blocks), fate.advice()));
    }
  }
}
