package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.option.ConfigReport;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.option.TopicPages;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Plural;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// Runs a node in this process until a signal stops it.
@Command(
    name = "serve",
    description = {
      "Runs a node: keeps blocks in memory, and on disk, and streams them to its clients.",
      "",
      "A YAML file, the environment and the command line can give every setting; the later wins. 'penstock models'"
          + " lists"
          + " what --model knows, 'penstock help ascend' the settings of Ascend devices.",
      "SIGTERM or SIGINT drains the node: it takes no new connection, running streams end or time out, and the exit"
          + " code"
          + " is 0. A second signal ends it at once.",
      ""
    },
    mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {
  /// Its settings in the help.
  public static final TopicPages PAGES = new TopicPages("serve", NodeSettings.TOPICS);

  private static final List<String> EXAMPLES = List.of("  penstock serve --dram 2GiB --listen-port 7733",
      "  penstock serve --model llama-3.1-8b --dram 8GiB --ssd 64GiB --ssd-dir /var/kv",
      "  penstock serve --listen-port 7733-7740 --listen-socket /run/penstock/node.sock",
      "  penstock serve --resp 127.0.0.1:6379 --s3 127.0.0.1:9000 --dram 8GiB",
      "  penstock serve --rank-side prefill --rank-registry 10.0.0.5:7733",
      "  penstock serve --cluster kv --cluster-seeds 10.0.0.5:7800,10.0.0.6:7800", "");
  private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

  private final Console console;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Option(names = "--config", paramLabel = "FILE",
      description = "YAML file of settings; PENSTOCK_CONFIG names one too. None is needed.")
  private @Nullable Path config;

  @Option(names = "--print-config", description = "Print the settings in effect and where each came from, and end.")
  private boolean printConfig;

  @Option(names = "--json", description = "Print for machines: the settings, or a line when the node is ready.")
  private boolean json;

  @Option(names = "--ready-file", paramLabel = "FILE",
      description = "Write a line of JSON there when the node is ready; the file goes with the node.")
  private @Nullable Path readyFile;

  @Option(names = "--engine", paramLabel = "NAME", hidden = true, description = "Equal to --ssd-engine.")
  private @Nullable String engine;

  @Option(names = "--durability", paramLabel = "NAME", hidden = true, description = "Equal to "
      + "--ssd-durability.")
  private @Nullable String durability;

  @Option(names = "--write-through", hidden = true, description = "Equal to --stack-mode write_through.")
  private boolean writeThrough;

  @Option(names = "--seeds", paramLabel = "LIST", hidden = true, description = "Equal to --cluster-seeds.")
  private @Nullable String seeds;

  private ServeCommand(Console console) {
    this.console = console;
  }

  /// The command with an option for every setting.
  public static CommandLine line(Console console) {
    CommandLine line = new CommandLine(new ServeCommand(console));
    CommandSpec spec = line.getCommandSpec();
    PAGES.addTo(spec, EXAMPLES);
    SettingOptions.addHidden(spec, AscendSettings.ALL);
    spec.usageMessage().sortOptions(false).abbreviateSynopsis(true);
    return line;
  }

  @Override
  public Integer call() throws Exception {
    if (readyFile != null && !printConfig) {
      Ready.forget(readyFile);
    }
    var flags = SettingOptions.given(spec.commandLine().getParseResult(), NodeSettings.ALL);
    addAlias(flags, NodeSettings.SSD_ENGINE, "--engine", engine);
    addAlias(flags, NodeSettings.SSD_DURABILITY, "--durability", durability);
    addAlias(flags, NodeSettings.STACK_MODE, "--write-through", writeThrough ? "write_through" : null);
    addAlias(flags, ClusterSettings.SEEDS, "--seeds", seeds);
    NodeConfig settings = NodeConfig.resolve(config, console.environment(), flags);
    if (printConfig) {
      ConfigReport.print(settings, console, json);
    } else {
      serve(settings);
    }
    return ExitCode.OK;
  }

  /// Adds short flags, and those of `replay`, as aliases.
  private static void addAlias(Map<Setting<?>, String> flags, Setting<?> setting, String alias,
      @Nullable String value) {
    if (value != null && flags.putIfAbsent(setting, value) != null) {
      throw new IllegalArgumentException(
          alias + " must be left out with " + setting.flag() + ", which means the same (was given)");
    }
  }

  private void serve(NodeConfig settings) throws Exception {
    if (readyFile != null) {
      OutputFile.of("--ready-file", readyFile);
    }
    Logging.set(settings.get(NodeSettings.LOG_LEVEL));
    settings.withoutEffect().forEach(sentence -> LOG.warn("setting without effect: {}", sentence));
    Stop stop = Stop.onSignals();
    Node node = start(settings);
    Ready ready = Ready.of(node, settings);
    try {
      NodeRecording.saveOnSignal(node.recording());
      announce(ready);
      node.refusal().subscribe(stop::ask);
      stop.await();
      Optional<Exception> refusal = stop.cause();
      console.say(refusal.isEmpty() ? "draining" : "draining: this node is not taken any more");
      boolean clean = Boolean.TRUE.equals(node.drain(gone(node, "value"), gone(node, "block")).block());
      console.say(clean ? "stopped" : "stopped; streams that went on after drain.timeout were cut");
      if (refusal.isPresent()) {
        throw refusal.get();
      }
    } finally {
      try {
        node.close().block();
      } finally {
        if (readyFile != null) {
          ready.remove(readyFile);
        }
      }
    }
  }

  /// Says what the end of the node takes with it.
  private LongConsumer gone(Node node, String noun) {
    String place = node.cluster() == null ? "" : " from this node";
    return count -> console.say(Plural.of(count, noun) + " in memory alone will be gone" + place);
  }

  private Node start(NodeConfig settings) {
    Optional<Path> absent = settings.get(NodeSettings.SSD_DIR).filter(Files::notExists);
    try {
      return requireNonNull(Node.start(settings).block(), "a node starts or fails");
    } finally {
      absent.filter(Files::exists).map(Folders::made).ifPresent(console::say);
    }
  }

  private void announce(Ready ready) throws IOException {
    if (readyFile != null) {
      ready.write(readyFile);
    }
    console.say(ready.sentence());
    if (json) {
      console.json(ready);
    }
  }
}
