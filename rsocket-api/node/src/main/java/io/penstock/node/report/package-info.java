/// A page that people look at: one file of HTML that holds its charts, their data and their scripts, and loads nothing.
///
/// [io.penstock.node.report.ReportPage] puts it together from a summary and the data of a run; what is drawn from the
/// data, `page.js` beside it says. Everything that a run contributes is escaped, and the page's own security policy
/// names its scripts by their digests, so that no other could run.
@NullMarked
package io.penstock.node.report;

import org.jspecify.annotations.NullMarked;
