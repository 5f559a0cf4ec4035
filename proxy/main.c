/* The program's entry: reads the command line and hands over. */
#include "proxy/check.h"
#include "proxy/cli.h"
#include "proxy/convert.h"
#include "proxy/demo.h"
#include "proxy/extract.h"
#include "proxy/serve.h"
#include "proxy/transcripts.h"

static int serve(const struct serve_options *options)
{
    struct config *config = cli_load(options, stderr);
    if (!config)
        return 1;
    return serve_run(config, options);
}

int main(int argc, char **argv)
{
    struct cli cli;
    cli_parse(&cli, argc, argv, stdout, stderr);
    int status = cli.status;
    switch (cli.command) {
    case CLI_NONE:
        break;
    case CLI_SERVE:
        status = serve(&cli.serve);
        break;
    case CLI_CHECK:
        status = check_run(&cli.check, stdout, stderr);
        break;
    case CLI_DEMO:
        status = demo_run(&cli.demo);
        break;
    case CLI_EXTRACT:
        status = extract_run(&cli.extract);
        break;
    case CLI_CONVERT:
        status = convert_run(&cli.convert);
        break;
    case CLI_TRANSCRIPT:
        status = transcripts_run(&cli.transcript);
        break;
    }
    cli_finish(&cli);
    return status;
}
