package io.penstock.node.cluster.roster;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.RefusedException;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Reason;
import io.penstock.node.text.TextTable;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.transport.Endpoint;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Looks for what is wrong with a cluster.
@Command(
    name = "doctor",
    description = {"Looks for what is wrong with a cluster, and says what to do.", "",
      "Asks each member from here. Finds members that do not answer, a cluster that is split, members that are"
          + " draining, full (above 95 %%), uneven (20 %% off the average), or without a place where others have one."
          + " Ends with 1 if it finds anything.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock cluster doctor 10.0.0.5:7733", ""})
final class DoctorCommand extends MemberCommand {
  @Parameters(paramLabel = "ADDRESS", arity = "0..1", defaultValue = HERE, converter = NodeAddress.Converter.class,
      description = ANY)
  private Endpoint node = Endpoint.parse(HERE);

  DoctorCommand(Console console) {
    super(console, Dialer.ofWire());
  }

  @Override
  Endpoint node() {
    return node;
  }

  @Override
  int run(Members members) {
    ClusterView view = members.view();
    List<Doctor.Finding> findings =
        new Doctor(view, view.members().stream().map(member -> answer(members, member)).toList()).findings();
    if (isJson()) {
      console.json(findings);
    } else if (findings.isEmpty()) {
      console.print("cluster " + view.cluster() + ": nothing found, "
          + Plural.of(view.members().size(), "member"));
    } else {
      findings.forEach(finding -> console.print(TextTable.wrapped(Reason.printable(finding.toString()), 2)));
    }
    return findings.isEmpty() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private static Doctor.Answer answer(Members members, Member member) {
    try {
      return new Doctor.Answer(member, members.at(member, ClusterLink::members), "");
    } catch (UnavailableException | RefusedException e) {
      return new Doctor.Answer(member, null, Reason.of(e));
    }
  }
}
