package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.link.Dialer;
import io.penstock.node.option.LayoutPage;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.shape.LayoutSettings;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/// The commands that talk to a node, ready to be added to a command line.
public final class ClientCommands {
  private ClientCommands() {}

  public static List<CommandLine> lines(Console console) {
    return lines(console, Dialer.ofWire());
  }

  static List<CommandLine> lines(Console console, Dialer dialer) {
    return Stream
        .of(new PutCommand(console, dialer), new GetCommand(console, dialer), new MatchCommand(console, dialer),
            new PinCommand(console, dialer), new UnpinCommand(console, dialer), new RemoveCommand(console, dialer),
            new KeepCommand(console, dialer), new LoadCommand(console, dialer),
            new CheckCommand(console, dialer), new StatCommand(console, dialer), new EventsCommand(console, dialer),
            new RegistryCommand(console, dialer), new ExportCommand(console, dialer),
            new ImportCommand(console, dialer))
        .map(ClientCommands::line).toList();
  }

  private static CommandLine line(ClientCommand command) {
    CommandLine line = new CommandLine(command);
    SettingOptions.addTo(line.getCommandSpec(), LayoutPage.TOPIC, LayoutSettings.MODEL, LayoutPage.NAME);
    ClientCommand.TOPICS.stream().skip(1).forEach(topic -> SettingOptions.addTo(line.getCommandSpec(), topic));
    line.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    return line;
  }
}
