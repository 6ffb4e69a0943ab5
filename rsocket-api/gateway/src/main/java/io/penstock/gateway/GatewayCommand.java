package io.penstock.gateway;

import io.penstock.gateway.simulate.SimulateCommand;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.serve.Logging;
import io.penstock.node.serve.Stop;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import io.penstock.node.text.TextTable;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `penstock gateway`: serves until a signal stops it.
@Command(
    name = "gateway",
    description = {
      "Serves an OpenAI endpoint before prefill and decode engines.",
      "",
      "A YAML file, the environment and the command line can give every setting; the later wins. SIGTERM or SIGINT"
          + " drains: running answers end or time out, and the exit code is 0.",
      ""
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock gateway --both http://127.0.0.1:8100",
      "  penstock gateway --dialect nixl-pull --prefill http://p1:8100 --decode http://d1:8200,http://d2:8200", ""})
final class GatewayCommand implements Callable<Integer> {
  private final Console console;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Option(names = "--config", paramLabel = "FILE", description = "YAML file of settings. None is needed.")
  private @Nullable Path config;

  @Option(names = "--print-config", description = "Print the settings in effect and where each came from, and end.")
  private boolean printConfig;

  @Option(names = "--json", description = "Print for machines: the settings, or a line when the gateway is ready.")
  private boolean json;

  private GatewayCommand(Console console) {
    this.console = console;
  }

  static CommandLine line(Console console) {
    CommandLine line = new CommandLine(new GatewayCommand(console));
    CommandSpec spec = line.getCommandSpec();
    GatewaySettings.TOPICS.forEach(topic -> addTo(spec, topic));
    spec.usageMessage().sortOptions(false).abbreviateSynopsis(true);
    line.addSubcommand(new CommandLine(SimulateCommand.class, new CommandFactory(console)));
    return line;
  }

  private static void addTo(CommandSpec spec, Topic topic) {
    ArgGroupSpec.Builder group = ArgGroupSpec.builder().exclusive(false).validate(false).multiplicity("0..1")
        .heading("%n" + topic.title() + ":%n").order(spec.argGroups().size());
    topic.settings().forEach(setting -> group.addArg(option(setting)));
    spec.addArgGroup(group.build());
  }

  private static OptionSpec option(Setting<?> setting) {
    return OptionSpec.builder(setting.flag()).paramLabel(setting.type().label()).type(String.class)
        .arity(setting.type().isFlag() ? "0..1" : "1").fallbackValue("true")
        .description(setting.description(), "Must be %s. %s, default %s".formatted(setting.type().rule(),
            GatewaySettings.variable(setting), setting.initial()))
        .build();
  }

  @Override
  public Integer call() throws Exception {
    Map<Setting<?>, String> flags = SettingOptions.given(spec.commandLine().getParseResult(), GatewaySettings.ALL);
    GatewayConfig settings = GatewayConfig.resolve(config, console.environment(), flags);
    if (printConfig) {
      print(settings);
      return ExitCode.OK;
    }
    Logging.set(settings.get(GatewaySettings.LOG_LEVEL));
    Stop stop = Stop.onSignals();
    try (Gateway gateway = Gateway.start(settings)) {
      console.say("listening at " + gateway.url());
      if (json) {
        console.json(gateway.ready());
      }
      stop.await();
      console.say("draining");
      console.say(gateway.drain() ? "stopped" : "stopped; requests that went on after drain.timeout were cut");
    }
    return ExitCode.OK;
  }

  private void print(GatewayConfig settings) {
    if (json) {
      console.json(settings.rows());
      return;
    }
    TextTable table = new TextTable("KEY", "VALUE", "FROM");
    settings.rows().forEach(row -> table.row(row.key(), row.value(), row.origin()));
    console.out().print(table);
  }
}
