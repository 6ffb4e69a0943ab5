package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.option.LayoutPage;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.shape.LayoutSettings;
import java.util.List;
import picocli.CommandLine;

/// The commands that talk to a node, ready to be added to a command line.
public final class ClientCommands {
  /// Their names, in the order of the help.
  public static final List<String> NAMES = List.of("put", "get", "match", "pin", "unpin", "remove", "keep", "load",
      "check", "stat", "events", "registry", "export", "import");

  private ClientCommands() {}

  /// @param name one of [#NAMES]
  public static CommandLine line(String name, Console console) {
    return line(name, console, Dialer.ofWire());
  }

  static List<CommandLine> lines(Console console, Dialer dialer) {
    return NAMES.stream().map(name -> line(name, console, dialer)).toList();
  }

  private static CommandLine line(String name, Console console, Dialer dialer) {
    return line(switch (name) {
      case "put" -> new PutCommand(console, dialer);
      case "get" -> new GetCommand(console, dialer);
      case "match" -> new MatchCommand(console, dialer);
      case "pin" -> new PinCommand(console, dialer);
      case "unpin" -> new UnpinCommand(console, dialer);
      case "remove" -> new RemoveCommand(console, dialer);
      case "keep" -> new KeepCommand(console, dialer);
      case "load" -> new LoadCommand(console, dialer);
      case "check" -> new CheckCommand(console, dialer);
      case "stat" -> new StatCommand(console, dialer);
      case "events" -> new EventsCommand(console, dialer);
      case "registry" -> new RegistryCommand(console, dialer);
      case "export" -> new ExportCommand(console, dialer);
      case "import" -> new ImportCommand(console, dialer);
      default -> throw new IllegalArgumentException("name must be one of " + NAMES + " (was " + name + ")");
    });
  }

  private static CommandLine line(ClientCommand command) {
    CommandLine line = new CommandLine(command);
    SettingOptions.addTo(line.getCommandSpec(), LayoutPage.TOPIC, LayoutSettings.MODEL, LayoutPage.NAME);
    ClientCommand.TOPICS.stream().skip(1).forEach(topic -> SettingOptions.addTo(line.getCommandSpec(), topic));
    line.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    return line;
  }
}
